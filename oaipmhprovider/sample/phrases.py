"""Patterns for the titles and abstracts of works in English.

In the patterns ``{topic}``, ``{other}``, ``{setting}`` and ``{method}`` stand for a
discipline's words, ``{many}``, ``{part}``, ``{years}`` and ``{figure}`` for numbers.
"""

TITLES = (
    "{Topic} {setting}",
    "{Topic} {setting}: {method}",
    "{Method} of {topic} {setting}",
    "{Topic} and {other} {setting}",
    "On {topic} and {other}",
    "What can {topic} tell us about {other}?",
    "Rethinking {topic}: {method}",
    "{Topic} reconsidered",
    "Towards a theory of {topic} {setting}",
    "The limits of {topic} {setting}",
    "{Topic}, {other} and the question of scale",
    "How {topic} change: {method} {setting}",
    "Measuring {topic} {setting}",
    "Between {topic} and {other}: {method}",
    "“Nothing is ever finished”: {topic} {setting}",
    "{Method} of {topic}",
    "An introduction to {topic} {setting}",
    "Sources of variation in {topic} {setting}",
)

OPENINGS = (
    "{Topic} have been studied for {years} years, yet little is known of them {setting}.",
    "Interest in {topic} has grown steadily, and with it the need for evidence {setting}.",
    "Most accounts of {topic} leave {other} aside.",
    "The relation between {topic} and {other} is disputed.",
    "This work is about {topic} {setting}.",
    "We ask what {topic} owe to {other}.",
    "Although {topic} are often described, they are seldom compared {setting}.",
    "There is no agreement on how {topic} should be described {setting}.",
    "Earlier work on {topic} rests on few cases, most of them unlike those found {setting}.",
)

APPROACHES = (
    "We present {method} of {many} cases collected over {years} years.",
    "Using {method}, we compare {topic} with {other}.",
    "The argument rests on {method}, supported by {many} observations.",
    "From {many} sources we take the {part} that can be dated with confidence.",
    "Our approach is {method}, chosen because it makes few assumptions about {other}.",
    "The material, {many} items in all, was gathered {setting} between two visits.",
    "{Method} is combined with data that others have made available.",
)

FINDINGS = (
    "In {part} of {many} cases the expected pattern was found.",
    "The effect is small ({figure}) but does not go away when {other} are taken into account.",
    "Contrary to what is often assumed, {topic} and {other} vary independently.",
    "Agreement between observers was good ({figure}).",
    "We find that {topic} depend more on their surroundings than on {other}.",
    "The differences are largest {setting}, and all but vanish elsewhere.",
    "Two groups can be told apart; one of them ({part} of {many}) has not been described before.",
    "No single cause explains what was seen, but {other} come closest.",
)

CLOSINGS = (
    "We discuss what follows for the study of {topic}.",
    "The data and the scripts that produced the figures are available with this paper.",
    "The results bear on practice as well as on theory.",
    "We end with three questions that remain open.",
    "It is suggested that {topic} deserve the attention that {other} have had.",
    "Limitations, among them the small number of sites, are considered.",
    "This has consequences for anyone who works with {other} {setting}.",
    "Recommendations for further work are made.",
)

ASIDES = (
    "The threshold was set at p < 0.05, and for the second series at p < 0.01 & n > 30.",
    "Where a < b and b < c the ordering a < c was assumed, not tested.",
    'In the words of one respondent: "I never knew which <form> they wanted".',
    "The coupling satisfies $0 < \\lambda \\le 1/4$ and $|x| > 2$ throughout.",
    "Marked-up passages such as <q>see over</q> are kept as the authors typed them.",
    "The export stopped at the sequence ]]> in one of the files, which had to be repaired by hand.",
    "The work was supported by Marsh & Daughters Ltd and by R&D funds of the University.",
    "Computations were carried out over the field 𝔽₂ and checked over 𝔽₃.",
    "The running time is 𝒪(n log n) in the mean & 𝒪(n²) at worst.",
    "Place names are given as on the map (Malmo\u0308, A\u030angstro\u0308m, Besanc\u0327on).",
    "A full list is at http://eprints.example.org/help?topic=lists&lang=en#tables.",
    "All temperatures are in °C ± 0.5, wavelengths in µm, resistances in kΩ.",
)

FIGURES = (
    "r = 0.42",
    "d = 0.18",
    "κ = 0.81",
    "p < 0.001",
    "95% CI 0.9–1.7",
    "R² = 0.63",
    "χ² = 11.4",
    "an odds ratio of 1.3",
    "ΔG < 0",
    "less than 4 dB",
)

THESIS_PARTS = (
    (
        "The first part of the thesis reviews what is known of {topic}, and shows where the"
        " accounts disagree. The disagreement is one of definition: those who set out from"
        " {other} count differently from those who do not."
    ),
    (
        "The second part describes {method} {setting}. The material comprises {many} cases;"
        " {part} of them were followed for {years} years. Care is given to what is missing."
    ),
    (
        "The third part puts the findings to the test. {Topic} and {other} are found to be related"
        " ({figure}), though not in the way the literature suggests."
    ),
    (
        "The conclusion returns to the question with which the thesis began, and proposes that"
        " {topic} be understood as a process, not as a state."
    ),
)

RIGHTS = (
    "cc_by_4",
    "cc_by_nc_nd_4",
    "http://creativecommons.org/licenses/by/4.0/",
    "© The Author(s). Deposited with permission of the publisher.",
    "All rights reserved",
)
