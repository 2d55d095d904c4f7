"""Fuzzing: mutated inputs for one function after another, each with a promise to check.

``target.py`` says what a target is, ``mutators.py`` makes inputs, ``loop.py`` tries them on
one target in this process, ``processes.py`` runs every target in a process of its own. The
targets are the modules of ``fuzz_targets``. docs/reliability.md says how to use it.
"""
