"""When work that repeats is due, and which of it starts now: pure decisions.

Nothing here reads a file or the clock, or knows what the work is, so that the same functions
serve the schedules of a Silo, a fleet of repositories, and a simulation of either.

* `timetable`: times of day or an interval, and the next run.
* `hours`: hours of a day in which a run may start.
* `rests`: the next run after one that succeeded, failed, was cut or has to wait; quarantine.
* `dispatch`: which runs start now, one at a time for each thing and each group, on which places.
"""
