"""What is said of a command line that click refuses: one sentence, and where to look."""

import click


def said_of(error: click.ClickException) -> str:
    """Click's error as a sentence like ours: in lower case, without a full stop.

    What is missing comes with the usage of the command; other errors name its help, unless they
    ask whether something else was meant.
    """
    text = error.format_message().strip().rstrip(".").replace(". Did you mean", "; did you mean")
    if text[1:2].islower():
        text = text[0].lower() + text[1:]
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or text.endswith("?"):
        return text
    if isinstance(error, click.MissingParameter) or "unexpected extra argument" in text:
        pieces = context.command.collect_usage_pieces(context)
        return f"{text}; usage: {' '.join([context.command_path, *pieces])}"
    return f"{text}; see {context.command_path} --help"


def is_only_help(error: click.ClickException) -> bool:
    """Whether a group was called without a command, which prints its help."""
    return isinstance(error, click.exceptions.NoArgsIsHelpError)
