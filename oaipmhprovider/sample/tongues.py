"""Word lists for the sample university's works in languages other than English.

Topics have a form that can begin a title, and the patterns separate them by punctuation, so that
no word has to be inflected.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language, with the words for works in it.

    Attributes:
        code: BCP 47 language tag.
        iso639_2: The code that EPrints writes into dc:language.
        topics: Objects of study; each with its title in English and its narrowest class.
        contexts: Second parts of titles.
        titles: Patterns of ``{topic}``, ``{other}`` and ``{context}``.
        sentences: For abstracts; patterns of ``{topic}``, ``{other}``, ``{many}``.
    """

    code: str
    iso639_2: str
    topics: tuple[tuple[str, str, str], ...]
    contexts: tuple[str, ...]
    titles: tuple[str, ...]
    sentences: tuple[str, ...]


_WESTERN_TITLES = (
    "{topic}: {context}",
    "{topic} – {context}",
    "{topic} – {other}",
    "{topic} – {other}",
)

TONGUES: tuple[Tongue, ...] = (
    Tongue(
        "de",
        "deu",
        (
            ("Gewässerschutz und Stadtplanung", "Water protection and town planning", "GE"),
            ("Die Übersetzung des Unübersetzbaren", "Translating the untranslatable", "PN"),
            ("Größenordnungen des Zufalls", "Orders of magnitude of chance", "QA"),
            ("Wörterbücher im Wandel", "Dictionaries in transition", "PN"),
            ("Straßenbau und Siedlungsgeschichte", "Road building and settlement history", "DA"),
            (
                "Quantenrauschen in optischen Verstärkern",
                "Noise in optical amplifiers",
                "QC",
            ),
            ("Frühe Drucke aus Lübeck", "Early prints from Lübeck", "Z665"),
        ),
        (
            "eine Bestandsaufnahme",
            "Methoden, Befunde, offene Fragen",
            "ein europäischer Vergleich",
            "Überlegungen zu einer Theorie",
            "eine Fallstudie aus dem Rheinland",
            "Beiträge zur Quellenkritik",
        ),
        _WESTERN_TITLES,
        (
            "Gegenstand der Arbeit ist das Thema „{topic}“.",
            "Ausgewertet wurden {many} Quellen, die zum größten Teil bisher unveröffentlicht sind.",
            "Dabei zeigt sich, daß ältere Annahmen nur eingeschränkt gültig sind.",
            "Ein Vergleich mit dem Themenkreis „{other}“ bestätigt die Ergebnisse.",
            "Abschließend werden Möglichkeiten künftiger Forschung erörtert.",
            "Für Grenzwerte unter 5 % (p < 0,05) läßt sich kein Zusammenhang nachweisen.",
        ),
    ),
    Tongue(
        "fr",
        "fra",
        (
            ("L’école et la mémoire", "School and memory", "LB"),
            (
                "Les archives sonores de la Méditerranée",
                "Mediterranean sound archives",
                "Z665",
            ),
            ("Géométrie des surfaces élastiques", "Geometry of elastic surfaces", "QA"),
            ("Traduire la poésie créole", "Translating Creole poetry", "PN"),
            ("La forêt tropicale vue du ciel", "The tropical forest seen from the sky", "GE"),
            (
                "Bibliothèques privées au XVIIIᵉ siècle",
                "Private libraries of the 1700s",
                "Z665",
            ),
            ("Œuvres inachevées", "Unfinished works", "PN"),
        ),
        (
            "état des lieux et perspectives",
            "une approche comparée",
            "enjeux et méthodes",
            "à la lumière de nouvelles sources",
            "le cas de la Bretagne",
            "de la théorie à la pratique",
        ),
        ("{topic} : {context}", "{topic}, {context}", "{topic} et autres essais"),
        (
            "Cet article traite du sujet suivant : « {topic} ».",
            "L’enquête porte sur {many} cas, réunis au cours de plusieurs années.",
            "Nous montrons qu’il n’existe pas de réponse unique à la question posée.",
            "La comparaison avec « {other} » permet de préciser la portée des résultats.",
            "En conclusion, quelques pistes de recherche sont proposées.",
            "Les données sont à la disposition des lecteurs où qu’ils se trouvent.",
        ),
    ),
    Tongue(
        "es",
        "spa",
        (
            ("La memoria del agua", "The memory of water", "GE"),
            ("Pequeñas editoriales independientes", "Small independent publishers", "Z665"),
            ("Energía solar y vivienda rural", "Solar energy and rural housing", "TK"),
            ("El habla de los niños bilingües", "The speech of bilingual children", "BF"),
            ("Máquinas que aprenden", "Machines that learn", "QA75"),
            ("Crónicas de la navegación atlántica", "Chronicles of Atlantic navigation", "DA"),
            ("Señales sísmicas de baja frecuencia", "Low-frequency seismic signals", "QE"),
        ),
        (
            "un estudio comparado",
            "¿mito o realidad?",
            "hacia una nueva interpretación",
            "el caso de Extremadura",
            "diez años después",
            "problemas y métodos",
        ),
        ("{topic}: {context}", "{topic} – {context}", "¿Qué sabemos de «{topic}»?"),
        (
            "El presente trabajo se ocupa del tema «{topic}».",
            "Se analizaron {many} casos procedentes de tres regiones.",
            "Los resultados señalan que la relación no es tan sencilla como se creía.",
            "Se establece además una comparación con «{other}».",
            "¿Qué consecuencias tiene esto para la investigación futura?",
            "El artículo termina con una discusión de sus límites.",
        ),
    ),
    Tongue(
        "ru",
        "rus",
        (
            ("Устойчивость нелинейных систем", "Stability of nonlinear systems", "QA"),
            ("Русская проза рубежа веков", "Russian prose at the turn of the century", "PN"),
            ("Северные морские пути", "Northern sea routes", "GE"),
            ("История одной библиотеки", "The history of a library", "Z665"),
            ("Полупроводниковые лазеры", "Semiconductor lasers", "QC"),
            ("Письма из экспедиции", "Letters from an expedition", "DA"),
        ),
        (
            "опыт сравнительного анализа",
            "проблемы и методы",
            "новые данные",
            "материалы к истории вопроса",
            "теория и эксперимент",
        ),
        (
            "{topic}: {context}",
            "{topic} – {context}",
            "{topic} («{other}» и другие очерки)",
            "{topic}",
        ),
        (
            "Работа посвящена теме «{topic}».",
            "Рассмотрено {many} источников, большая часть которых публикуется впервые.",
            "Показано, что прежние оценки нуждаются в уточнении.",
            "Проводится сравнение с темой «{other}».",
            "В заключение обсуждаются возможности дальнейших исследований.",
            "Объём выборки достаточен для предварительных выводов.",
        ),
    ),
    Tongue(
        "el",
        "ell",
        (
            ("Η τοπογραφία της αρχαίας αγοράς", "The topography of the ancient agora", "DA"),
            ("Σεισμοί και μνήμη", "Earthquakes and memory", "QE"),
            ("Νεοελληνική ποίηση", "Modern Greek poetry", "PN"),
            ("Θαλάσσια οικοσυστήματα του Αιγαίου", "Marine ecosystems of the Aegean", "QH301"),
            ("Ψηφιακές βιβλιοθήκες", "Digital libraries", "Z665"),
        ),
        (
            "μια συγκριτική μελέτη",
            "νέα δεδομένα",
            "μέθοδοι και προβλήματα",
            "από τη θεωρία στην πράξη",
        ),
        ("{topic}: {context}", "{topic} – {context}", "{topic} – {other}"),
        (
            "Η εργασία εξετάζει το θέμα «{topic}».",
            "Μελετήθηκαν {many} περιπτώσεις από διάφορες περιοχές.",
            "Τα αποτελέσματα δείχνουν ότι οι παλαιότερες υποθέσεις πρέπει να αναθεωρηθούν.",
            "Γίνεται επίσης σύγκριση με το θέμα «{other}».",
            "Ποιες είναι οι συνέπειες για τη μελλοντική έρευνα;",
        ),
    ),
    Tongue(
        "ar",
        "ara",
        (
            ("المخطوطات العلمية في الأندلس", "Scientific manuscripts in al-Andalus", "Z665"),
            ("إدارة المياه في المدن الساحلية", "Water management in coastal cities", "GE"),
            ("الشعر العربي الحديث", "Modern Arabic poetry", "PN"),
            ("تاريخ المكتبات العامة", "A history of public libraries", "Z665"),
            ("الطاقة الشمسية في المناطق الريفية", "Solar energy in rural areas", "TK"),
        ),
        ("دراسة مقارنة", "مناهج ومشكلات", "بين النظرية والتطبيق", "قراءة جديدة"),
        ("{topic}: {context}", "{topic} – {context}", "{topic} ({other})"),
        (
            "يتناول هذا البحث موضوع «{topic}».",
            "تمت دراسة {many} حالة خلال عدة سنوات.",
            "تشير النتائج إلى أن الفرضيات السابقة بحاجة إلى مراجعة.",
            "كما تجري المقارنة مع موضوع «{other}».",
            "وفي الختام تُعرض بعض الاقتراحات للبحوث القادمة (OAI-PMH، 2.0).",
        ),
    ),
    Tongue(
        "he",
        "heb",
        (
            ("כתבי יד מן הגניזה", "Manuscripts from the Genizah", "Z665"),
            ("שירה עברית חדשה", "New Hebrew poetry", "PN"),
            ("מערכות השקיה במדבר", "Irrigation systems in the desert", "GE"),
            ("זיכרון ועדות", "Memory and testimony", "BF"),
            ("אלגוריתמים מקוונים", "Online algorithms", "QA75"),
        ),
        ("מחקר השוואתי", "שאלות ושיטות", "עיון מחודש", "בין תאוריה למעשה"),
        ("{topic}: {context}", "{topic} – {context}", "{topic} ({other})"),
        (
            'המאמר עוסק בנושא "{topic}".',
            "נבדקו {many} מקרים ממקורות שונים.",
            "הממצאים מראים כי יש לבחון מחדש את ההנחות המקובלות.",
            'כן נערכת השוואה לנושא "{other}".',
            "לבסוף מוצעים כיוונים למחקר עתידי.",
        ),
    ),
    Tongue(
        "zh",
        "zho",
        (
            ("数字图书馆元数据的质量", "Metadata quality in digital libraries", "Z665"),
            ("长江三角洲的城市化", "Urbanisation in the Yangtze delta", "GE"),
            ("量子光学中的噪声", "Noise in quantum optics", "QC"),
            ("宋代书院制度", "Academies of the Song dynasty", "LB"),
            ("儿童阅读能力的发展", "The development of children's reading", "BF"),
            ("𠮷字与生僻字的编码", "Encoding 𠮷 and other rare characters", "QA75"),
        ),
        ("比较研究", "理论与方法", "以三个城市为例", "问题与展望", "新证据"),
        ("{topic}:{context}", "论{topic}", "{topic}研究", "{topic}——{context}"),
        (
            "本文研究“{topic}”。",
            "我们收集并分析了{many}个案例。",
            "结果表明,以往的假设需要修正。",
            "文中还与“{other}”作了比较。",
            "最后讨论了今后的研究方向。",
        ),
    ),
    Tongue(
        "ja",
        "jpn",
        (
            ("機関リポジトリの利用統計", "Usage statistics of institutional repositories", "Z665"),
            ("近世の出版文化", "Publishing culture of the early modern period", "PN"),
            ("深海堆積物の分析", "Analysis of deep-sea sediments", "QE"),
            ("日本語の語順と情報構造", "Word order and information structure in Japanese", "PN"),
            ("有機薄膜トランジスタ", "Organic thin-film transistors", "TK"),
        ),
        ("比較研究の試み", "理論と実践", "新しい資料から", "現状と課題"),
        ("{topic}:{context}", "{topic}について", "{topic}―{context}―", "{topic}に関する研究"),
        (
            "本稿では「{topic}」について論じる。",
            "{many}件の資料を収集し、分析を行った。",
            "その結果、従来の見解には再検討の余地があることが分かった。",
            "また「{other}」との比較も行う。",
            "最後に、今後の課題を述べる。",
        ),
    ),
    Tongue(
        "hi",
        "hin",
        (
            ("हिन्दी कविता में प्रकृति", "Nature in Hindi poetry", "PN"),
            ("ग्रामीण शिक्षा की चुनौतियाँ", "Challenges of rural education", "LB"),
            ("जल संरक्षण की पारंपरिक विधियाँ", "Traditional methods of water conservation", "GE"),
            ("डिजिटल पुस्तकालय", "Digital libraries", "Z665"),
        ),
        ("एक तुलनात्मक अध्ययन", "सिद्धांत और व्यवहार", "नई दृष्टि", "समस्याएँ और संभावनाएँ"),
        ("{topic}: {context}", "{topic} – {context}", "{topic} ({other})"),
        (
            "यह शोधपत्र “{topic}” पर केंद्रित है।",
            "इसमें {many} उदाहरणों का विश्लेषण किया गया है।",
            "परिणाम बताते हैं कि पुरानी धारणाओं पर फिर से विचार करना आवश्यक है।",
            "“{other}” से तुलना भी की गई है।",
            "अंत में भावी शोध की दिशाएँ सुझाई गई हैं।",
        ),
    ),
)
