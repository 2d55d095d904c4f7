"""Run an export: plan records, carry out their actions, note each step in the ledger.

`export` runs and resumes, `deposits` carries out the actions of one record, `parallel` does that
for many records at once, `checking` compares the ledger with the target.

Read `export` first, then `deposits`.
"""
