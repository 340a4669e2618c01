"""What is read off the records of suite tasks.

headline.py    which trials count in headline figures, and their mean
composite.py   one number over all categories, where nothing is missing
tables.py      the parts of a summary that only suites have
"""
