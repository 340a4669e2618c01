"""The agent loop: a model works in turns, one action each, and is told what came of it.

actions.py    one turn to the action it asks for; what it reads: json_calls, tagged_calls, function_calls, arguments
tools.py      the tools by name, in words and as schemas
turns.py      the loop itself, for whoever is asked and whatever the tools do
files.py      the tools on files
repository.py the tools of suites: files, and the tests that the model can see
progress.py   milestones, apart from the score
talk.py       asking a trial's model, step by step, so that a killed loop says and hears the same again
replay.py     known turns through the same loop
"""
