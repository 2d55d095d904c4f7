"""When a job repeats: the choices of a form, and timetables in words (pure)."""

from silowork.due.timetable import WEEKDAYS, Timetable, duration_text, timetable_of_texts
from silowork.errors import JobRefused
from webui.words import durations
from webui.words.dates import for_people
from webui.words.texts import counted
from webui.words.texts import text as _

NOW, SAME = "now", "same"
WHEN = {
    NOW: "Once, now",
    "daily": "Every day",
    "workdays": "Monday to Friday",
    "mon": "Every Monday",
    "tue": "Every Tuesday",
    "wed": "Every Wednesday",
    "thu": "Every Thursday",
    "fri": "Every Friday",
    "sat": "Every Saturday",
    "sun": "Every Sunday",
    "monthly": "Every month, on the first day",
    "1h": "Every hour",
    "6h": "Every 6 hours",
    "12h": "Every 12 hours",
}
"""English texts of the catalogue; daily and weekly choices have a time."""
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
"""English texts of the catalogue."""


def timetable_from(when: str, at: str) -> Timetable:
    """Convert the choice of a form to a timetable.

    Args:
        when: One of `WHEN`.
        at: A time of day, UTC.

    Raises:
        JobRefused: Unknown choice, or invalid time.
    """
    if when not in WHEN or when == NOW:
        raise JobRefused(f"a schedule is one of {', '.join(one for one in WHEN if one != NOW)}")
    if when[0].isdigit():
        return timetable_of_texts({"every": when})
    if when == "monthly":
        return timetable_of_texts({"times": [at or "02:00"], "days": [1]})
    days = {"daily": list(WEEKDAYS), "workdays": list(WEEKDAYS[:5])}.get(when, [when])
    return timetable_of_texts({"times": [at or "02:00"], "weekdays": days})


def in_words(wish: Timetable) -> str:
    """Describe a timetable, such as ``Every day at 02:00 UTC``."""
    if wish.once is not None:
        return _("Once, on {day}", day=for_people(f"{wish.once:%Y-%m-%dT%H:%M}"))
    if wish.every is not None:
        text = duration_text(wish.every)
        seconds = wish.every.total_seconds()
        if seconds >= 2 * durations.DAY and seconds % durations.DAY == 0:
            return counted("Every {n} day", "Every {n} days", int(seconds // durations.DAY))
        time = durations.in_words(seconds)
        return _(WHEN[text]) if text in WHEN else _("Every {time}", time=time)
    times = ", ".join(f"{one:%H:%M}" for one in wish.times)
    return _("{days} at {times} {zone}", days=_days(wish), times=times, zone=wish.zone)


def choice_of(wish: Timetable) -> str:
    """Return the name of the choice that a timetable is; `SAME` if it is not one."""
    for when in WHEN:
        if when != NOW:
            known = timetable_from(when, "")
            if (wish.every, wish.weekdays, wish.days, wish.months, wish.once) == (
                known.every, known.weekdays, known.days, (), None
            ):  # fmt: skip
                return when
    return SAME


def _days(wish: Timetable) -> str:
    if (choice := choice_of(wish)) != SAME:
        return _(WHEN[choice])
    days = ", ".join(_(WHEN[WEEKDAYS[one]]) for one in wish.weekdays) or _(WHEN["daily"])
    if wish.days:
        days = _("On day {days} of the month", days=", ".join(map(str, wish.days)))
    if wish.months:
        months = ", ".join(_(MONTHS[one - 1]) for one in wish.months)
        days = _("{days}, in {months},", days=days, months=months)
    return days
