"""The words of DataCite, and which of them stand for the words of others (pure).

Source: DataCite Metadata Schema 4.5, its controlled lists; MARC relators.
"""

from siloexport.bibliography.datacite import DATE_KINDS

GENERAL_TYPES = (
    "Audiovisual", "Book", "BookChapter", "Collection", "ComputationalNotebook", "ConferencePaper",
    "ConferenceProceeding", "DataPaper", "Dataset", "Dissertation", "Event", "Image", "Instrument",
    "InteractiveResource", "Journal", "JournalArticle", "Model", "OutputManagementPlan",
    "PeerReview", "PhysicalObject", "Preprint", "Report", "Service", "Software", "Sound",
    "Standard", "StudyRegistration", "Text", "Workflow", "Other",
)  # fmt: skip
"""The values of resourceTypeGeneral."""
WORDS = {one.casefold(): one for one in GENERAL_TYPES if one != "Other"} | {
    "article": "JournalArticle", "researcharticle": "JournalArticle",
    "reviewarticle": "JournalArticle", "contributiontoperiodical": "JournalArticle",
    "monograph": "Book", "bookpart": "BookChapter", "booksection": "BookChapter",
    "chapter": "BookChapter", "conferenceobject": "ConferencePaper",
    "conferenceorworkshopitem": "ConferencePaper", "proceedings": "ConferenceProceeding",
    "conferenceproceedings": "ConferenceProceeding", "thesis": "Dissertation",
    "doctoralthesis": "Dissertation", "masterthesis": "Dissertation",
    "bachelorthesis": "Dissertation", "electronicthesisordissertation": "Dissertation",
    "stillimage": "Image", "movingimage": "Audiovisual", "video": "Audiovisual",
    "recording": "Sound", "audio": "Sound", "musicalcomposition": "Sound",
    "technicalreport": "Report", "researchreport": "Report", "workingpaper": "Report",
    "review": "PeerReview", "timeseries": "Dataset", "computerprogram": "Software",
}  # fmt: skip
"""Type without spaces and case → resourceTypeGeneral."""
STATUS = ("peerreviewed", "nonpeerreviewed")
"""What EPrints has among the types."""
CONTRIBUTORS = {
    "edt": "Editor", "ths": "Supervisor", "dgs": "Supervisor", "cur": "DataCurator",
    "dtm": "DataManager", "dtc": "DataCollector", "dst": "Distributor", "pro": "Producer",
    "his": "HostingInstitution", "pdr": "ProjectLeader", "rtm": "ProjectMember",
    "res": "Researcher", "cph": "RightsHolder", "spn": "Sponsor", "dgg": "HostingInstitution",
}  # fmt: skip
"""Code of the MARC relators → contributorType; any other is ``Other``."""
CONTRIBUTOR_TYPES = frozenset({
    *CONTRIBUTORS.values(), "ContactPerson", "ProjectManager", "RegistrationAgency",
    "RegistrationAuthority", "RelatedPerson", "ResearchGroup", "WorkPackageLeader", "Other",
})  # fmt: skip
_RELATION_NAMES = """
IsCitedBy Cites IsCollectedBy Collects IsSupplementTo IsSupplementedBy IsContinuedBy Continues
IsDescribedBy Describes HasMetadata IsMetadataFor HasVersion IsVersionOf IsNewVersionOf
IsPartOf IsPreviousVersionOf IsPublishedIn HasPart IsReferencedBy References IsDocumentedBy
Documents IsCompiledBy Compiles IsVariantFormOf IsOriginalFormOf IsIdenticalTo IsReviewedBy
Reviews IsDerivedFrom IsSourceOf IsRequiredBy Requires IsObsoletedBy Obsoletes
"""
RELATIONS = frozenset(_RELATION_NAMES.split())
RENAMED = {"IsTranslationOf": "IsDerivedFrom", "HasTranslation": "IsSourceOf"}
"""Relations that schema 4.6 has first → what they were before."""
SCHEMES = {
    "doi": "DOI", "handle": "Handle", "issn": "ISSN", "isbn": "ISBN", "url": "URL", "urn": "URN",
    "pmid": "PMID", "arxiv": "arXiv",
}  # fmt: skip
"""Kind of identifier → relatedIdentifierType."""
DATE_TYPES = {kind: name for name, kind in DATE_KINDS.items()}
