"""Run directories of packs: their rows, what is computed from them, and the pages that show it.

measured           the rows of a measured case
rows, outcome      one row of run.jsonl, and what Regrade's own record says of its asking
read               run directories, whoever made them
medians            samples, medians and prefill parity of several runs
compare, report    Markdown over several run directories
pack_summary       the summary.md of one
run_metadata, host_label     what a user says about a run and its machine
"""
