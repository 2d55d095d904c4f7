-- The steps from lines to outcomes, in DuckDB's dialect and of it only what sqlglot turns
-- into Spark SQL with the same meaning. `plan.py` says in which order they run.
--
-- Tables, in the order of their making:
--   line       (line)  some lines of an input, with one blank where there were several;
--              bytes that are not printable ASCII stand as %XX
--   raw        the same, its fields told apart
--   judged     (given, type, …)  what each media type is
--   event      a page, as one line of an input tells of it
--   location   (url, target)  where a redirect leads, as an index or a WARC says
--   capture    (url, ts, sha1, cdx, fields, source)  where the bytes lie; with `fields` it is a
--              line of an index that is no event yet
--   repeated   (url)  the addresses with several events
--   page       the best event of each address; a view of `event` without the others
--   edge       (child, parent, link, crumb)  who led to a page: R a redirect, L anything else;
--              the crumb is the letter of the hop as the line has it
--   seed       (url, exact, heritrix, whatwg, ...)  the addresses that were asked for
--   found      (url, page, rule)  the page of each of them
--   needed     the pages on the ways from seeds to their ends
--   chain      (start, at, state, path)  the redirects from each of those pages on
--   mark       (page, hit, crumbs)  the full texts that were found from a page
--   result     crawl_result, one row for each seed row and terminal
--
-- Nothing in an event is NULL: a text that is not there is '', a number -1. So the order
-- of events is total and the same on every engine.
--
-- source: 0 a crawl log, 1 an index or a WARC, 2 an earlier crawl; of lines about the same
-- address only those of the first of these count.
-- grade: what the line is worth; the least counts, of equal ones the latest.
--   10 full text   20 the same, held before   30 full text, not modified since
--   40 web page    50 something else          60 web page, not modified since
--   70 something else, not modified since     75 revisit of something that only its digest tells
--   80 empty       90 redirect               100 answered with an error     130 no answer
--   140 not asked for, as the crawl was set

-- step: make_tables
CREATE TEMP TABLE event (
    url VARCHAR, source INTEGER, grade INTEGER, age BIGINT, status INTEGER, size BIGINT,
    mime VARCHAR, sha1 VARCHAR, dedupe BOOLEAN, hops VARCHAR, via VARCHAR, tag VARCHAR,
    warc VARCHAR
)

-- step: make_locations
CREATE TEMP TABLE location (url VARCHAR, target VARCHAR)

-- step: make_captures
CREATE TEMP TABLE capture (
    url VARCHAR, ts BIGINT, sha1 VARCHAR, cdx VARCHAR, fields VARCHAR, source INTEGER
)

-- step: make_judged
CREATE TEMP TABLE judged (
    given VARCHAR, is_known BOOLEAN, type VARCHAR, is_hit BOOLEAN, is_page BOOLEAN,
    takes_pdf BOOLEAN, takes_ps BOOLEAN
)

-- step: make_edges
CREATE TEMP TABLE edge (child VARCHAR, parent VARCHAR, link VARCHAR, crumb VARCHAR)

-- step: read_log
-- A Heritrix log: fields between blanks, twelve or thirteen of them, of which annotations
-- and JSON may hold blanks. A line that is none has a reason, and keeps its text. An address of
-- more than 65,536 characters is none: crawlers take 2,083, and each is kept many times.
-- Of JSON, only that of full texts stays, and what says where a page leads.
CREATE OR REPLACE TEMP TABLE raw AS
SELECT
    CASE
        WHEN line = '' THEN 'blank'
        WHEN n < 12 THEN 'fields'
        WHEN ts IS NULL THEN 'time'
        WHEN status IS NULL THEN 'status'
        WHEN strpos(url, ':') < 2 OR length(url) > 65536 THEN 'address'
        WHEN starts_with(url, 'dns:') OR starts_with(url, 'whois:') THEN 'prerequisite'
        ELSE ''
    END AS reason,
    url, ts, status, size, mime, sha1, dedupe, hops, via, tag,
    CASE
        WHEN n > 12 AND (status BETWEEN 200 AND 299 AND COALESCE(is_hit OR NOT is_known, true)
            OR strpos(line, '"documents"') > 0) AND strpos(line, ' {"') > 0
        THEN substring(line, strpos(line, ' {"') + 1) ELSE ''
    END AS extra,
    CASE
        WHEN n > 12 AND strpos(line, '"redirecturl"') > 0 AND strpos(line, ' {"') > 0
            AND json_valid(substring(line, strpos(line, ' {"') + 1))
        THEN COALESCE(json_extract_string(substring(line, strpos(line, ' {"') + 1), '$.redirecturl'), '')
        ELSE ''
    END AS redirect,
    CASE WHEN n < 12 OR ts IS NULL OR status IS NULL OR strpos(url, ':') < 2 OR length(url) > 65536
        THEN substring(line, 1, 65536) END AS line
FROM (
    SELECT line, array_length(f) AS n, f[4] AS url,
        COALESCE(
            CASE WHEN strpos(f[9], '+') = 18 THEN TRY_CAST(substring(f[9], 1, 14) AS BIGINT) END,
            TRY_CAST(substring(f[1], 1, 4) || substring(f[1], 6, 2) || substring(f[1], 9, 2)
                || substring(f[1], 12, 2) || substring(f[1], 15, 2) || substring(f[1], 18, 2) AS BIGINT)
        ) AS ts,
        TRY_CAST(f[2] AS INTEGER) AS status, COALESCE(TRY_CAST(f[3] AS BIGINT), -1) AS size,
        f[7] AS mime, f[10] AS sha1, f[5] AS hops,
        CASE WHEN length(f[6]) > 65536 THEN '' ELSE f[6] END AS via, f[11] AS tag,
        CASE
            WHEN strpos(line, 'duplicate:') = 0 THEN false
            ELSE strpos(array_to_string(list_slice(f, 12, array_length(f)), ' '), 'duplicate:') > 0
        END AS dedupe
    FROM (
        SELECT line, string_split(line, ' ') AS f FROM line
    )
) AS one
LEFT JOIN judged ON judged.given = one.mime

-- step: read_json
-- The JSON crawl log, one object a line.
CREATE OR REPLACE TEMP TABLE raw AS
SELECT
    CASE
        WHEN line = '' THEN 'blank'
        WHEN NOT is_json THEN 'json'
        WHEN ts IS NULL THEN 'time'
        WHEN status IS NULL THEN 'status'
        WHEN url IS NULL OR strpos(url, ':') < 2 OR length(url) > 65536 THEN 'address'
        WHEN starts_with(url, 'dns:') OR starts_with(url, 'whois:') THEN 'prerequisite'
        ELSE ''
    END AS reason,
    url, ts, status, size, mime, sha1, dedupe, hops, via, tag, extra, redirect,
    CASE WHEN ts IS NULL OR status IS NULL OR url IS NULL OR strpos(url, ':') < 2
            OR length(url) > 65536
        THEN substring(line, 1, 65536) END AS line
FROM (
    SELECT line, is_json,
        json_extract_string(j, '$.url') AS url,
        COALESCE(
            CASE WHEN strpos(started, '+') = 18 THEN TRY_CAST(substring(started, 1, 14) AS BIGINT) END,
            TRY_CAST(substring(time, 1, 4) || substring(time, 6, 2) || substring(time, 9, 2)
                || substring(time, 12, 2) || substring(time, 15, 2) || substring(time, 18, 2) AS BIGINT)
        ) AS ts,
        TRY_CAST(json_extract_string(j, '$.status_code') AS INTEGER) AS status,
        COALESCE(
            TRY_CAST(json_extract_string(j, '$.content_length') AS BIGINT),
            TRY_CAST(json_extract_string(j, '$.size') AS BIGINT), -1
        ) AS size,
        COALESCE(json_extract_string(j, '$.mimetype'), '') AS mime,
        COALESCE(json_extract_string(j, '$.content_digest'), '') AS sha1,
        strpos(COALESCE(json_extract_string(j, '$.annotations'), ''), 'duplicate:') > 0 AS dedupe,
        COALESCE(json_extract_string(j, '$.hop_path'), '') AS hops,
        CASE WHEN length(json_extract_string(j, '$.via')) > 65536 THEN ''
            ELSE COALESCE(json_extract_string(j, '$.via'), '') END AS via,
        COALESCE(json_extract_string(j, '$.seed'), '') AS tag,
        CASE
            WHEN json_extract_string(j, '$.warc_filename') IS NOT NULL THEN j
            ELSE COALESCE(json_extract_string(j, '$.extra_info'), '')
        END AS extra,
        COALESCE(json_extract_string(j, '$.redirecturl'), '') AS redirect
    FROM (
        SELECT line, is_json, j, json_extract_string(j, '$.timestamp') AS time,
            json_extract_string(j, '$.start_time_plus_duration') AS started
        FROM (
            SELECT line, is_json, CASE WHEN is_json THEN line ELSE '{}' END AS j
            FROM (SELECT line, json_valid(line) AS is_json FROM line)
        )
    )
)

-- step: read_cdx
-- An index. The header says which field is which ($a and the like are their places, from
-- 1); a JSON object in the third field makes it CDXJ.
CREATE OR REPLACE TEMP TABLE raw AS
SELECT
    CASE
        WHEN line = '' THEN 'blank'
        WHEN head = 'CDX' OR starts_with(head, '!') THEN 'header'
        WHEN is_json AND NOT json_valid(j) THEN 'json'
        WHEN NOT is_json AND n < $fields THEN 'fields'
        WHEN ts IS NULL THEN 'time'
        WHEN url IS NULL OR strpos(url, ':') < 2 OR length(url) > 65536 THEN 'address'
        WHEN starts_with(url, 'dns:') OR starts_with(url, 'whois:') THEN 'prerequisite'
        ELSE ''
    END AS reason,
    url, ts,
    CASE WHEN mime = 'warc/revisit' THEN 0 ELSE COALESCE(TRY_CAST(code AS INTEGER), 0) END AS status,
    CAST(-1 AS BIGINT) AS size, mime, sha1, mime = 'warc/revisit' AS dedupe, '' AS hops, '' AS via,
    '' AS tag, '' AS extra, redirect, line
FROM (
    SELECT line, n, head, is_json, j,
        CASE WHEN is_json THEN json_extract_string(j, '$.url') ELSE f[$a] END AS url,
        CASE
            WHEN regexp_matches(CASE WHEN is_json THEN f[2] ELSE f[$b] END, '^[0-9]{14}$')
            THEN CAST(CASE WHEN is_json THEN f[2] ELSE f[$b] END AS BIGINT)
        END AS ts,
        COALESCE(CASE WHEN is_json THEN json_extract_string(j, '$.mime') ELSE f[$m] END, '') AS mime,
        CASE WHEN is_json THEN json_extract_string(j, '$.status') ELSE f[$s] END AS code,
        COALESCE(CASE WHEN is_json THEN json_extract_string(j, '$.digest') ELSE f[$k] END, '') AS sha1,
        COALESCE(CASE WHEN is_json THEN json_extract_string(j, '$.redirect') ELSE f[$r] END, '') AS redirect
    FROM (
        SELECT line, f, array_length(f) AS n, COALESCE(f[1], '') AS head,
            array_length(f) > 2 AND starts_with(f[3], '{') AS is_json,
            CASE
                WHEN array_length(f) > 2 AND starts_with(f[3], '{') AND json_valid(substring(line, strpos(line, '{')))
                THEN substring(line, strpos(line, '{')) ELSE '{}'
            END AS j
        FROM (
            SELECT line, string_split(line, ' ') AS f FROM line
        )
    )
)

-- step: cdx_captures
INSERT INTO capture
SELECT url, ts, CASE WHEN starts_with(sha1, 'sha1:') THEN substring(sha1, 6) ELSE sha1 END,
    line, $fields, $source
FROM raw
WHERE reason = ''

-- step: warc_rows
-- WARC records are read by Python; here they take the form of lines.
CREATE OR REPLACE TEMP TABLE raw AS
SELECT '' AS reason, url, CAST(ts AS BIGINT) AS ts,
    CASE WHEN kind = 'revisit' AND status = '200' THEN 0 ELSE CAST(status AS INTEGER) END AS status,
    CAST(size AS BIGINT) AS size, mime, sha1, kind = 'revisit' AS dedupe, '' AS hops, '' AS via,
    '' AS tag, '' AS extra, redirect, CAST(NULL AS VARCHAR) AS line
FROM warc_row

-- step: warc_captures
INSERT INTO capture SELECT url, CAST(ts AS BIGINT), sha1, line, '', 1 FROM warc_row

-- step: set_aside
-- The lines that are none, with the reason why.
SELECT reason, line FROM raw WHERE reason NOT IN ('', 'blank', 'header', 'prerequisite')

-- step: reasons
SELECT reason, count(*) FROM raw GROUP BY reason

-- step: redirects
-- Where redirects lead, as read; `location` has it resolved.
SELECT DISTINCT url, redirect FROM raw WHERE reason = '' AND redirect NOT IN ('', '-')

-- step: documents
-- The documents that a page links to, as a JSON array, where the log says so. Their own lines name
-- the page that led to them first.
SELECT DISTINCT url, json_extract_string(extra, '$.documents') FROM raw
WHERE extra <> '' AND reason = '' AND strpos(extra, '"documents"') > 0 AND json_valid(extra)

-- step: add_documents
INSERT INTO edge SELECT DISTINCT child, parent, 'L', 'L' FROM linked

-- step: judge_types
-- What each media type is; few of all lines. They stay from input to input. $hits is a pattern of
-- those that are full texts, $pages of those that are web pages.
INSERT INTO judged
SELECT given, is_known,
    CASE
        WHEN NOT is_known THEN 'application/octet-stream'
        WHEN starts_with(type, 'application/x-pdf') THEN 'application/pdf'
        WHEN starts_with(type, 'application/xml') THEN 'text/xml'
        ELSE type
    END AS type,
    regexp_matches(CASE
        WHEN NOT is_known THEN 'application/octet-stream'
        WHEN starts_with(type, 'application/x-pdf') THEN 'application/pdf'
        WHEN starts_with(type, 'application/xml') THEN 'text/xml'
        ELSE type
    END, $hits) AS is_hit,
    regexp_matches(type, $pages) AS is_page,
    regexp_matches('application/pdf', $hits) AS takes_pdf,
    regexp_matches('application/postscript', $hits) AS takes_ps
FROM (
    SELECT given, type,
        type NOT IN ('', '-', 'unk', 'unknown', 'other', 'no-type', 'application/octet-stream') AS is_known
    FROM (
        SELECT mime AS given,
            lower(replace(replace(replace(split_part(mime, ';', 1), '"', ''), chr(39), ''), ',', '')) AS type
        FROM (SELECT DISTINCT mime FROM raw WHERE reason = '') AS one
        LEFT JOIN judged ON judged.given = one.mime
        WHERE judged.given IS NULL
    )
)

-- step: keep_events
-- The grade of each line. Where nobody says what came by FTP, or what was not modified, the
-- suffix of the address does.
INSERT INTO event
SELECT url, $source,
    CASE
        WHEN dedupe AND status = 0 THEN 75
        WHEN status BETWEEN 200 AND 299 AND (size = 0 OR sha1 = '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
            OR (size BETWEEN 0 AND 999 AND mime = 'application/octet-stream')) THEN 80
        WHEN status IN (200, 226) AND is_hit THEN CASE WHEN dedupe THEN 20 ELSE 10 END
        WHEN status BETWEEN 200 AND 299 THEN CASE WHEN is_page THEN 40 ELSE 50 END
        WHEN status = 304 THEN CASE
            WHEN is_hit AND (is_known OR mime <> 'application/octet-stream') THEN 30
            WHEN is_page THEN 60
            ELSE 70
        END
        WHEN status BETWEEN 300 AND 399 THEN 90
        WHEN status >= 400 THEN 100
        WHEN status IN (-4000, -4001, -4002, -5000, -5001, -5002, -5003, -5004) THEN 140
        ELSE 130
    END,
    -ts, status, size,
    CASE WHEN status BETWEEN 200 AND 299 OR is_known OR dedupe THEN mime ELSE '' END,
    sha1, dedupe OR status = 304,
    CASE WHEN hops = '-' THEN '' ELSE hops END,
    CASE WHEN via = '-' THEN '' ELSE via END,
    CASE WHEN tag = '-' THEN '' ELSE tag END,
    CASE
        WHEN is_hit AND status BETWEEN 200 AND 299 AND extra <> '' AND json_valid(extra) THEN
            COALESCE(json_extract_string(extra, '$.warcFilename'), json_extract_string(extra, '$.warc_filename'), '')
            || ' ' || COALESCE(json_extract_string(extra, '$.warcFileOffset'), json_extract_string(extra, '$.warc_offset'), '-')
        ELSE ''
    END
FROM (
    SELECT url, ts, status, size, dedupe, hops, via, tag, extra, is_known, is_page,
        CASE
            WHEN NOT by_suffix THEN type
            WHEN ends_with(lower(url), '.pdf') THEN 'application/pdf'
            WHEN ends_with(lower(url), '.ps') THEN 'application/postscript'
            ELSE type
        END AS mime,
        CASE
            WHEN NOT by_suffix THEN is_hit_type
            WHEN ends_with(lower(url), '.pdf') THEN takes_pdf
            WHEN ends_with(lower(url), '.ps') THEN takes_ps
            ELSE is_hit_type
        END AS is_hit,
        CASE WHEN sha1 = '-' THEN '' WHEN starts_with(sha1, 'sha1:') THEN substring(sha1, 6) ELSE sha1 END AS sha1
    FROM (
        SELECT raw.*, judged.type AS type, is_known, is_hit AS is_hit_type, is_page, takes_pdf, takes_ps,
            NOT is_known AND status IN (226, 304) AS by_suffix
        FROM raw
        JOIN judged ON judged.given = raw.mime
        WHERE reason = ''
    )
)

-- step: scopes
-- What arabesque counts of the lines of a log: those that are no full text, those that look like
-- one and are too small or empty, and full texts.
SELECT scope, count(*)
FROM (
    SELECT CASE
        WHEN status NOT IN (200, 226) OR NOT is_hit THEN 'skip-log-scope'
        WHEN is_octets AND size BETWEEN 0 AND 999 THEN 'skip-tiny-octetstream'
        WHEN size = 0 OR sha1 IN ('3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ', 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ')
            THEN 'skip-empty-file'
        ELSE 'full-text'
    END AS scope
    FROM (
        SELECT status, size, sha1,
            CASE
                WHEN NOT is_known AND status = 226 AND ends_with(lower(url), '.pdf') THEN takes_pdf
                WHEN NOT is_known AND status = 226 AND ends_with(lower(url), '.ps') THEN takes_ps
                ELSE is_hit
            END AS is_hit,
            NOT is_known AND NOT (status = 226 AND (ends_with(lower(url), '.pdf') OR ends_with(lower(url), '.ps')))
                AS is_octets
        FROM raw
        JOIN judged ON judged.given = raw.mime
        WHERE reason = ''
    )
)
GROUP BY scope

-- step: add_locations
INSERT INTO location SELECT url, target FROM located

-- step: count_indexed
SELECT count(*) FROM event WHERE source = 1

-- step: drop_indexed
-- Pages that WARCs and shards of indexes told of, where a log has them, too.
DELETE FROM event
WHERE source = 1 AND url IN (SELECT url FROM event WHERE source = 0)

-- step: layouts
-- How indexes were read, of which lines are no events yet.
SELECT DISTINCT fields, source FROM capture WHERE fields <> ''

-- step: unlogged
-- Their lines about pages that no log has.
CREATE OR REPLACE TEMP TABLE line AS
SELECT capture.cdx AS line
FROM (SELECT url, cdx FROM capture WHERE fields = $fields AND source = $source) AS capture
ANTI JOIN (SELECT url FROM event WHERE source = 0) AS logged ON logged.url = capture.url

-- step: repeated
-- Addresses with several events; few of all.
CREATE OR REPLACE TEMP TABLE repeated AS
SELECT url FROM event GROUP BY url HAVING count(*) > 1

-- step: best_events
-- The best event of each of them. It is what merges parts, too: the best of the best.
CREATE OR REPLACE TEMP TABLE best AS
SELECT url, b.source AS source, b.grade AS grade, b.age AS age, b.status AS status, b.size AS size,
    b.mime AS mime, b.sha1 AS sha1, b.dedupe AS dedupe, b.hops AS hops, b.via AS via, b.tag AS tag,
    b.warc AS warc
FROM (
    SELECT event.url AS url,
        min({'source': source, 'grade': grade, 'age': age, 'status': status, 'size': size,
             'mime': mime, 'sha1': sha1, 'dedupe': dedupe, 'hops': hops, 'via': via, 'tag': tag,
             'warc': warc}) AS b
    FROM event
    JOIN repeated ON repeated.url = event.url
    GROUP BY event.url
)

-- step: more_edges
-- Pages with several lines may have been reached by several ways; the best line has one of them.
CREATE OR REPLACE TEMP TABLE way AS
SELECT DISTINCT child, parent, link, crumb
FROM (
    SELECT event.url AS child, event.via AS parent,
        CASE WHEN ends_with(event.hops, 'R') THEN 'R' ELSE 'L' END AS link,
        CASE WHEN event.hops = '' THEN 'X' ELSE right(event.hops, 1) END AS crumb
    FROM event
    JOIN repeated ON repeated.url = event.url
    WHERE event.via <> '' AND NOT ends_with(event.hops, 'P')
    UNION ALL
    SELECT child, parent, link, crumb FROM edge
)

-- step: drop_repeated
-- Only the best events remain. To copy them into another table costs much more.
DELETE FROM event WHERE url IN (SELECT url FROM repeated)

-- step: keep_best
INSERT INTO event SELECT * FROM best

-- step: best_pages
CREATE OR REPLACE TEMP VIEW page AS SELECT * FROM event

-- step: resolve_revisits
-- A revisit in an index, and an answer "not modified" of no type, say what they are by their
-- digest alone; another page has it, or none.
CREATE OR REPLACE TEMP TABLE known AS
SELECT sha1, min({'grade': grade, 'mime': mime}) AS b
FROM page
WHERE grade < 70 AND sha1 IN (SELECT sha1 FROM page WHERE grade IN (70, 75) AND sha1 NOT IN ('', '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'))
GROUP BY sha1

-- step: pages
-- All pages, with revisits as what they are a copy of. It is a view, because most pages are
-- those of `page`.
CREATE OR REPLACE TEMP VIEW node AS
SELECT page.url AS url, source,
    CASE
        WHEN page.grade NOT IN (70, 75) THEN page.grade
        WHEN known.b.grade < 40 THEN CASE WHEN page.grade = 70 THEN 30 ELSE 20 END
        WHEN known.b.grade IN (40, 60) THEN 60
        ELSE 70
    END AS grade,
    age, CASE WHEN page.grade = 75 THEN 200 ELSE status END AS status,
    COALESCE(known.b.mime, CASE WHEN page.mime = 'warc/revisit' THEN '' ELSE page.mime END) AS mime,
    page.sha1 AS sha1, dedupe, hops, via, tag, warc
FROM page
LEFT JOIN known ON page.grade IN (70, 75) AND known.sha1 = page.sha1

-- step: make_seeds
CREATE OR REPLACE TEMP TABLE seed_row (
    url VARCHAR, identifier VARCHAR, heritrix VARCHAR, whatwg VARCHAR, replaced VARCHAR
)

-- step: add_seeds
INSERT INTO seed_row SELECT url, identifier, heritrix, whatwg, replaced FROM seed_given

-- step: seeds
CREATE OR REPLACE TEMP TABLE seed AS SELECT DISTINCT url, heritrix, whatwg, replaced FROM seed_row

-- step: seed_rows
-- A row that is there twice counts once.
CREATE OR REPLACE TEMP TABLE seed_once AS SELECT DISTINCT url, identifier, heritrix FROM seed_row

-- step: count_seeds
SELECT count(*) FROM seed_once

-- step: found
-- The page of each address: by the first rule that finds one. Most are found as they are.
CREATE OR REPLACE TEMP TABLE found AS
SELECT seed.url AS url, node.url AS page, 1 AS rule
FROM seed
JOIN node ON node.url = seed.url
WHERE node.source < 2

-- step: sought
CREATE OR REPLACE TEMP TABLE sought AS
SELECT seed.url AS url, heritrix, whatwg, replaced
FROM seed
LEFT JOIN found ON found.url = seed.url
WHERE found.url IS NULL

-- step: asked
-- The other addresses as they may have been logged, the likeliest first.
CREATE OR REPLACE TEMP TABLE asked AS
SELECT url, form, min(rule) AS rule
FROM (
    SELECT url, url AS form, 1 AS rule FROM sought
    UNION ALL
    SELECT url, heritrix AS form, 2 AS rule FROM sought WHERE heritrix <> '' AND heritrix <> url
    UNION ALL
    SELECT url, whatwg AS form, 3 AS rule FROM sought WHERE whatwg <> '' AND whatwg <> heritrix
)
GROUP BY url, form

-- step: found_by_form
INSERT INTO found
SELECT url, b.page, b.rule
FROM (
    SELECT asked.url AS url, min({'rule': asked.rule, 'page': node.url}) AS b
    FROM asked
    JOIN node ON node.url = asked.form
    WHERE node.source < 2
    GROUP BY asked.url
)

-- step: found_alike
-- What is left, without regard to http or https, www., a last slash, %7E or ~.
INSERT INTO found
SELECT url, b.page, 4
FROM (
    SELECT sought.url AS url,
        min({'rule': sought.rule, 'grade': near.grade, 'age': near.age, 'page': near.url}) AS b
    FROM (
        SELECT asked.url AS url, asked.rule AS rule,
            rtrim(CASE WHEN strpos(bare, '%7') = 0 THEN bare
                ELSE replace(replace(bare, '%7E', '~'), '%7e', '~') END, '/') AS alike
        FROM (
            SELECT url, form, rule, CASE
                    WHEN starts_with(form, 'https://www.') THEN substring(form, 13)
                    WHEN starts_with(form, 'http://www.') THEN substring(form, 12)
                    WHEN starts_with(form, 'https://') THEN substring(form, 9)
                    WHEN starts_with(form, 'http://') THEN substring(form, 8)
                    ELSE form
                END AS bare
            FROM asked
        ) AS asked
        LEFT JOIN found ON found.url = asked.url
        WHERE found.url IS NULL AND asked.rule > 1 OR found.url IS NULL AND strpos(asked.form, '://') > 0
    ) AS sought
    JOIN (
        SELECT url, grade, age,
            CASE WHEN strpos(bare, '%7') = 0 AND NOT ends_with(bare, '/') THEN bare
                ELSE rtrim(replace(replace(bare, '%7E', '~'), '%7e', '~'), '/') END AS alike
        FROM (
            SELECT url, grade, age, CASE
                    WHEN starts_with(url, 'https://www.') THEN substring(url, 13)
                    WHEN starts_with(url, 'http://www.') THEN substring(url, 12)
                    WHEN starts_with(url, 'https://') THEN substring(url, 9)
                    WHEN starts_with(url, 'http://') THEN substring(url, 8)
                    ELSE url
                END AS bare
            FROM node
            WHERE source < 2
        ) AS one
    ) AS near ON near.alike = sought.alike
    GROUP BY sought.url
)

-- step: alike_replaced
-- Seeds of which a crawler may have written U+FFFD for each byte that is not ASCII. Several
-- addresses may have become the same; then nobody knows which of them the page is.
CREATE OR REPLACE TEMP TABLE lossy AS
SELECT replaced
FROM seed
WHERE replaced <> ''
GROUP BY replaced
HAVING count(DISTINCT heritrix) = 1

-- step: found_replaced
-- What is left, by these.
INSERT INTO found
SELECT sought.url, node.url, 5
FROM sought
JOIN lossy ON lossy.replaced = sought.replaced
JOIN node ON node.url = sought.replaced
LEFT JOIN found ON found.url = sought.url
WHERE node.source < 2 AND found.url IS NULL

-- step: asked_pages
CREATE OR REPLACE TEMP TABLE asked_page AS
SELECT DISTINCT page AS url FROM found

-- step: wanted
-- Pages that seeds ask for, that lead to others, and that redirects lead to; few of all.
CREATE OR REPLACE TEMP TABLE wanted AS
SELECT url, bool_or(is_asked) AS is_asked
FROM (
    SELECT url, true AS is_asked FROM asked_page
    UNION ALL
    SELECT via, false FROM node WHERE via <> '' AND NOT ends_with(hops, 'P')
    UNION ALL
    SELECT target, false FROM location
    UNION ALL
    SELECT child, false FROM way
)
GROUP BY url

-- step: nodes_needed
-- The pages on the ways from seeds to their ends: those above, full texts, redirects and what was
-- fetched because of one. $walls is a pattern of the addresses where people sign in or take
-- cookies, $defences one of those where robots are sent.
CREATE OR REPLACE TEMP TABLE needed AS
SELECT node.*, COALESCE(is_asked, false) AS is_asked,
    grade > 30 AND regexp_matches(node.url, $walls) AS is_cookie_wall,
    grade > 30 AND regexp_matches(node.url, $defences) AS is_defence
FROM node
LEFT JOIN wanted ON wanted.url = node.url
WHERE wanted.url IS NOT NULL OR grade <= 30 OR grade = 90 OR ends_with(hops, 'R')

-- step: next_known
-- Where a redirect leads: the page that was fetched on account of it, or what an index or a
-- WARC says, if that page was fetched at all.
CREATE OR REPLACE TEMP TABLE redirect AS
SELECT url, b.target AS target
FROM (
    SELECT url, min({'told': told, 'source': source, 'grade': grade, 'age': age, 'target': target}) AS b
    FROM (
        SELECT one.url AS url, 1 AS told, child.source AS source, child.grade AS grade,
            child.age AS age, child.url AS target
        FROM (
            SELECT url AS child, via AS parent FROM needed WHERE via <> '' AND ends_with(hops, 'R')
            UNION
            SELECT child, parent FROM way WHERE link = 'R'
        ) AS e
        JOIN needed AS one ON one.url = e.parent AND one.grade = 90
        JOIN needed AS child ON child.url = e.child
        UNION ALL
        SELECT one.url, 2, child.source, child.grade, child.age, child.url
        FROM location
        JOIN needed AS one ON one.url = location.url AND one.grade = 90
        JOIN needed AS child ON child.url = location.target
    )
    GROUP BY url
)

-- step: chains_begin
CREATE OR REPLACE TEMP TABLE going AS
SELECT url AS start, url AS place, [url] AS path FROM asked_page

-- step: make_chains
CREATE OR REPLACE TEMP TABLE chain AS SELECT start, place, 'end' AS state, path FROM going WHERE start = ''

-- step: chains_go_on
-- A redirect further; a page that comes a second time closes a loop.
CREATE OR REPLACE TEMP TABLE chain_after AS
SELECT start, COALESCE(redirect.target, place) AS place,
    CASE
        WHEN redirect.target IS NULL THEN 'end'
        WHEN array_contains(path, redirect.target) THEN 'loop'
        WHEN array_length(path) > 40 THEN 'limit'
        ELSE 'go'
    END AS state,
    CASE
        WHEN redirect.target IS NOT NULL AND array_length(path) <= 40
        THEN list_append(path, redirect.target) ELSE path
    END AS path
FROM going
LEFT JOIN redirect ON redirect.url = going.place

-- step: chains_keep
INSERT INTO chain SELECT start, place, state, path FROM chain_after WHERE state <> 'go'

-- step: chains_left
CREATE OR REPLACE TEMP TABLE going AS SELECT start, place, path FROM chain_after WHERE state = 'go'

-- step: chains_open
SELECT count(*) FROM going

-- step: ways_up
-- Who led to a page: by its line, by other lines of it, and by redirects to it. Some are there
-- twice, which the steps that follow do not mind.
CREATE OR REPLACE TEMP TABLE way_up AS
SELECT url AS child, via AS parent, CASE WHEN ends_with(hops, 'R') THEN 'R' ELSE 'L' END AS link,
    CASE WHEN hops = '' THEN 'X' ELSE right(hops, 1) END AS crumb
FROM needed
WHERE via <> '' AND NOT ends_with(hops, 'P')
UNION ALL
SELECT child, parent, link, crumb FROM way
UNION ALL
SELECT target, url, 'R', 'R' FROM redirect

-- step: climb_begins
CREATE OR REPLACE TEMP TABLE climbing AS
SELECT url AS hit, url AS place, '' AS crumbs, false AS linked, false AS owned
FROM needed
WHERE grade <= 30

-- step: climb_seen
CREATE OR REPLACE TEMP TABLE climbed AS SELECT * FROM climbing

-- step: climb_on
-- A step up from each full text. A page that a seed asked for and that links to the document
-- owns it: beyond it only redirects to that page are followed. Nobody owns what a wall links to.
CREATE OR REPLACE TEMP TABLE climb_next AS
SELECT hit, place, min(crumbs) AS crumbs, linked, owned
FROM (
    SELECT climbing.hit AS hit, way_up.parent AS place, way_up.crumb || climbing.crumbs AS crumbs,
        climbing.linked OR way_up.link = 'L' AS linked,
        climbing.owned OR ((climbing.linked OR way_up.link = 'L') AND needed.is_asked) AS owned
    FROM climbing
    JOIN way_up ON way_up.child = climbing.place
    JOIN needed ON needed.url = way_up.parent
    WHERE (way_up.link = 'R' OR NOT climbing.owned)
        AND NOT ((needed.is_cookie_wall OR needed.is_defence) AND (climbing.linked OR way_up.link = 'L'))
)
GROUP BY hit, place, linked, owned

-- step: climb_new
CREATE OR REPLACE TEMP TABLE climbing AS
SELECT climb_next.*
FROM climb_next
LEFT JOIN climbed ON climbed.hit = climb_next.hit AND climbed.place = climb_next.place
    AND climbed.linked = climb_next.linked AND climbed.owned = climb_next.owned
WHERE climbed.hit IS NULL

-- step: climb_keep
INSERT INTO climbed SELECT * FROM climbing

-- step: climb_open
SELECT count(*) FROM climbing

-- step: marks
-- The full texts of each page that a seed asked for, with the shortest way to each.
CREATE OR REPLACE TEMP TABLE mark AS
SELECT url, hit, b.crumbs AS crumbs
FROM (
    SELECT place AS url, hit, min({'length': length(crumbs), 'crumbs': crumbs}) AS b
    FROM climbed
    JOIN asked_page ON asked_page.url = climbed.place
    GROUP BY place, hit
)

-- step: marks_by_tag
-- Full texts that no way leads to, but whose line names the seed they come from.
INSERT INTO mark
SELECT found.page, needed.url, min(needed.hops)
FROM needed
JOIN found ON found.url = needed.tag AND found.rule < 4
WHERE needed.grade <= 30 AND needed.tag <> ''
    AND needed.url NOT IN (SELECT hit FROM mark)
GROUP BY found.page, needed.url

-- step: ends
-- The ends of each page that was asked for: its full texts, or else the end of its redirects.
CREATE OR REPLACE TEMP TABLE ended AS
SELECT chain.start AS page, COALESCE(mark.hit, CASE WHEN chain.state = 'end' THEN chain.place ELSE chain.start END) AS final,
    COALESCE(mark.crumbs, CASE WHEN chain.state = 'end' THEN repeat('R', array_length(chain.path) - 1) ELSE '' END) AS crumbs,
    COALESCE(hit.grade, 999) AS grade, chain.state AS state, chain.path AS path,
    COALESCE(walled.is_walled, false) AS is_walled, COALESCE(walled.is_defended, false) AS is_defended
FROM chain
LEFT JOIN mark ON mark.url = chain.start
LEFT JOIN needed AS hit ON hit.url = mark.hit
LEFT JOIN (
    SELECT start, bool_or(is_cookie_wall) AS is_walled, bool_or(is_defence) AS is_defended
    FROM (SELECT start, place, state, unnest(path) AS url FROM chain) AS chains
    JOIN needed ON needed.url = chains.url AND (needed.is_cookie_wall OR needed.is_defence)
    WHERE chains.state <> 'end' OR chains.place = needed.url
    GROUP BY start
) AS walled ON walled.start = chain.start

-- step: several_ends
-- Pages with several of them; few of all.
CREATE OR REPLACE TEMP TABLE several AS
SELECT url FROM mark GROUP BY url HAVING count(*) > 1

-- step: terminals
-- The same with their order, which is determined only where there are several.
CREATE OR REPLACE TEMP TABLE terminal AS
SELECT page, final, crumbs, 1 AS number, grade AS best, state, path,
    is_walled, is_defended
FROM ended
LEFT JOIN several ON several.url = ended.page
WHERE several.url IS NULL
UNION ALL
SELECT page, final, crumbs,
    row_number() OVER (PARTITION BY page ORDER BY grade, length(crumbs), crumbs, final) AS number,
    min(grade) OVER (PARTITION BY page) AS best, state, path, is_walled, is_defended
FROM ended
JOIN several ON several.url = ended.page

-- step: walled_targets
-- Redirects to a wall or a defence that was not fetched.
CREATE OR REPLACE TEMP TABLE to_wall AS
SELECT url, bool_or(regexp_matches(target, $defences)) AS is_defence
FROM location
WHERE regexp_matches(target, $walls) OR regexp_matches(target, $defences)
GROUP BY url

-- step: outcomes
-- What came of each address that was asked for, a row for each terminal.
CREATE OR REPLACE TEMP TABLE outcome AS
SELECT seed.url AS url, found.page AS page, terminal.final AS final, terminal.crumbs AS crumbs,
    terminal.number AS number, terminal.state AS state, terminal.path AS path,
    CASE found.rule WHEN 1 THEN 'exact' WHEN 2 THEN 'heritrix' WHEN 3 THEN 'whatwg' WHEN 4 THEN 'surt' WHEN 5 THEN 'ufffd' END AS rule,
    CASE
        WHEN found.page IS NULL AND seed.heritrix = '' THEN 'bad-url'
        WHEN found.page IS NULL THEN 'not-attempted'
        WHEN terminal.best <= 10 THEN 'fulltext'
        WHEN terminal.best <= 30 THEN 'fulltext-duplicate'
        WHEN terminal.is_defended AND (needed.grade BETWEEN 31 AND 75 OR needed.grade = 90 OR needed.status IN (401, 403, 429, 503)) THEN 'robot-defence'
        WHEN terminal.is_walled AND (needed.grade BETWEEN 31 AND 75 OR needed.grade = 90 OR needed.status IN (401, 403)) THEN 'cookie-wall'
        WHEN terminal.state <> 'end' THEN 'redirect-loop'
        WHEN needed.grade = 90 AND to_wall.is_defence THEN 'robot-defence'
        WHEN needed.grade = 90 AND to_wall.url IS NOT NULL THEN 'cookie-wall'
        WHEN needed.grade = 90 THEN 'redirect-uncaptured'
        WHEN needed.grade IN (40, 60) THEN 'landing-only'
        WHEN needed.grade IN (50, 70) THEN 'wrong-type'
        WHEN needed.grade = 80 THEN 'empty'
        WHEN needed.status = 429 THEN 'rate-limited'
        WHEN needed.status >= 500 THEN 'http-5xx'
        WHEN needed.status >= 400 OR needed.status = -404 THEN 'http-4xx'
        WHEN needed.status = -9998 THEN 'robots'
        WHEN needed.status IN (-4000, -4001, -4002, -5000, -5001, -5002, -5003, -5004) THEN 'out-of-scope'
        WHEN needed.status = -7 THEN 'bad-url'
        WHEN needed.status IN (-50, -60, -63, -6000, -7000) OR needed.status BETWEEN 0 AND 199 THEN 'not-attempted'
        ELSE 'unreachable'
    END AS outcome
FROM seed
LEFT JOIN found ON found.url = seed.url
LEFT JOIN terminal ON terminal.page = found.page
LEFT JOIN needed ON needed.url = terminal.final
LEFT JOIN to_wall ON to_wall.url = terminal.final

-- step: write_pages
COPY (SELECT * FROM page) TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: write_edges
COPY way TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: write_locations
COPY (SELECT DISTINCT url, target FROM location) TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: write_captures
COPY (SELECT DISTINCT url, ts, sha1, cdx FROM capture) TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: take_pages
-- Of an earlier crawl only its pages and redirects count, as held before.
INSERT INTO event
SELECT url, CASE WHEN $earlier THEN 2 ELSE source END,
    CASE WHEN $earlier AND grade = 10 THEN 20 ELSE grade END,
    age, status, size, mime, sha1, dedupe OR $earlier,
    CASE WHEN $earlier AND NOT ends_with(hops, 'R') THEN '' ELSE hops END,
    CASE WHEN $earlier AND NOT ends_with(hops, 'R') THEN '' ELSE via END,
    CASE WHEN $earlier THEN '' ELSE tag END, warc
FROM read_parquet($file)

-- step: take_edges
INSERT INTO edge SELECT child, parent, link, crumb FROM read_parquet($file)

-- step: take_locations
INSERT INTO location SELECT url, target FROM read_parquet($file)

-- step: take_captures
INSERT INTO capture SELECT url, ts, sha1, cdx, '', 1 FROM read_parquet($file)

-- step: take_earlier
-- The ends of another crawl's links, as pages that were captured before this one. Tables of earlier
-- releases have all digests in final_sha1.
INSERT INTO event
SELECT DISTINCT final_url, 2,
    CASE
        WHEN hit = 1 THEN 20
        WHEN starts_with(final_status_code, '3') AND final_status_code <> '304' THEN 90
        WHEN NOT starts_with(final_status_code, '2') AND final_status_code <> '304' THEN 100
        WHEN regexp_matches(COALESCE(final_mimetype, ''), $pages) THEN 60
        ELSE 70
    END,
    -CAST(final_timestamp AS BIGINT), CAST(final_status_code AS INTEGER), CAST(-1 AS BIGINT),
    COALESCE(final_mimetype, ''), COALESCE(final_sha1, other_sha1, ''), true, '', '', '', ''
FROM (
    SELECT * FROM read_parquet($file)
    UNION ALL BY NAME
    SELECT CAST(NULL AS VARCHAR) AS other_sha1 WHERE false
)
WHERE final_url IS NOT NULL AND final_status_code NOT LIKE '-%' AND final_status_code <> '0'

-- step: tops_begin
-- Full texts that belong to no seed: the page where the way to each begins.
CREATE OR REPLACE TEMP TABLE top AS
SELECT url AS hit, url AS place, via AS next, '' AS crumbs, hops, 0 AS steps
FROM needed
WHERE $wanted AND grade <= 30 AND source < 2 AND url NOT IN (SELECT hit FROM mark)

-- step: tops_on
CREATE OR REPLACE TEMP TABLE top_after AS
SELECT hit, COALESCE(needed.url, place) AS place,
    CASE WHEN needed.url IS NULL OR ends_with(needed.hops, 'P') THEN '' ELSE needed.via END AS next,
    CASE
        WHEN needed.url IS NULL THEN top.crumbs
        WHEN top.hops = '' THEN 'X' || top.crumbs
        ELSE right(top.hops, 1) || top.crumbs
    END AS crumbs,
    COALESCE(needed.hops, '') AS hops, steps + 1 AS steps
FROM top
LEFT JOIN needed ON needed.url = top.next AND needed.url <> top.hit
    AND top.next <> '' AND top.steps < 60 AND NOT ends_with(top.hops, 'P')

-- step: tops_keep
CREATE OR REPLACE TEMP TABLE top AS SELECT * FROM top_after

-- step: tops_open
SELECT count(*) FROM top WHERE next <> '' AND steps < 60

-- step: capture_lines
-- The line of an index about each terminal: of the same second, else of the same content.
CREATE OR REPLACE TEMP TABLE capture_line AS
SELECT url, b.cdx AS cdx
FROM (
    SELECT capture.url AS url,
        min({'other': capture.ts <> -last.age, 'differs': capture.sha1 <> last.sha1, 'age': -capture.ts, 'cdx': capture.cdx}) AS b
    FROM capture
    JOIN (
        SELECT needed.url AS url, age, sha1
        FROM needed
        JOIN (SELECT final AS url FROM outcome UNION SELECT hit FROM top) AS one ON one.url = needed.url
    ) AS last ON last.url = capture.url
    WHERE capture.ts = -last.age OR (capture.sha1 = last.sha1 AND last.sha1 <> '')
    GROUP BY capture.url
)

-- step: results
-- The table crawl_result: for each seed row its terminals, and the full texts of no seed.
CREATE OR REPLACE TEMP TABLE result AS
SELECT r.url AS initial_url, NULLIF(r.identifier, '') AS identifier,
    NULLIF(split_part(split_part(split_part(split_part(r.address, '/', 3), '?', 1), '@', -1), ':', 1), '') AS initial_domain,
    CASE
        WHEN r.final IS NULL THEN NULL
        WHEN r.crumbs = '' THEN '-'
        WHEN length(r.crumbs) > 50 THEN CAST(length(r.crumbs) - 50 AS VARCHAR) || '+' || right(r.crumbs, 50)
        ELSE r.crumbs
    END AS breadcrumbs,
    r.final AS final_url,
    NULLIF(split_part(split_part(split_part(split_part(r.final, '/', 3), '?', 1), '@', -1), ':', 1), '') AS final_domain,
    CAST(-needed.age AS VARCHAR) AS final_timestamp,
    CAST(needed.status AS VARCHAR) AS final_status_code,
    CASE WHEN needed.grade <= 30 THEN NULLIF(needed.sha1, '') END AS final_sha1,
    NULLIF(needed.mime, '') AS final_mimetype,
    CASE WHEN r.final IS NOT NULL THEN CAST(needed.dedupe OR needed.grade IN (20, 30) AS INTEGER) END AS final_was_dedupe,
    CASE WHEN r.final IS NULL THEN 0 ELSE CAST(needed.grade <= 30 AS INTEGER) END AS hit,
    CAST(NULL AS VARCHAR) AS postproc_status,
    COALESCE(capture_line.cdx, CASE WHEN needed.warc <> '' THEN
        '- ' || CAST(-needed.age AS VARCHAR) || ' ' || r.final || ' ' || needed.mime || ' ' || CAST(needed.status AS VARCHAR)
        || ' ' || CASE WHEN needed.sha1 = '' THEN '-' ELSE needed.sha1 END || ' - - - '
        || split_part(needed.warc, ' ', -1) || ' ' || left(needed.warc, length(needed.warc) - length(split_part(needed.warc, ' ', -1)) - 1)
    END) AS final_cdx,
    r.outcome AS outcome, r.rule AS match_rule, r.number AS terminal,
    CASE WHEN needed.grade > 30 THEN NULLIF(needed.sha1, '') END AS other_sha1
FROM (
    SELECT outcome.url AS url, seed_row.identifier AS identifier,
        CASE WHEN seed_row.heritrix = '' THEN outcome.url ELSE seed_row.heritrix END AS address,
        outcome.final AS final, outcome.crumbs AS crumbs, outcome.outcome AS outcome,
        outcome.rule AS rule, COALESCE(outcome.number, 1) AS number
    FROM outcome
    JOIN seed_once AS seed_row ON seed_row.url = outcome.url
    UNION ALL
    SELECT place, NULL, place, hit, crumbs, NULL, NULL, NULL
    FROM top
) AS r
LEFT JOIN needed ON needed.url = r.final
LEFT JOIN capture_line ON capture_line.url = r.final

-- step: kept_pages
-- The pages on the way from each address that was asked for to its ends, for `explain`.
CREATE OR REPLACE TEMP TABLE kept AS
SELECT url FROM (
    SELECT unnest(path) AS url FROM chain
    UNION
    SELECT climbed.place AS url FROM climbed JOIN mark ON mark.hit = climbed.hit
    UNION
    SELECT hit AS url FROM mark
)

-- step: write_result
COPY result TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, DICTIONARY_SIZE_LIMIT 1000)

-- step: without_records
-- A stored result without the rows of some records.
COPY (
    SELECT * FROM read_parquet($file) WHERE identifier IS NULL OR NOT list_contains($items, identifier)
) TO $staged (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, DICTIONARY_SIZE_LIMIT 1000)

-- step: write_outcomes
COPY (
    SELECT url, rule, page, state, path FROM outcome WHERE COALESCE(number, 1) = 1
) TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: write_kept_pages
COPY (
    SELECT needed.* FROM needed JOIN kept ON kept.url = needed.url
) TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: write_kept_ways
COPY (
    SELECT DISTINCT e.child AS child, e.parent AS parent, e.link AS link, e.crumb AS crumb
    FROM way_up AS e
    JOIN kept AS one ON one.url = e.child
    JOIN kept AS other ON other.url = e.parent
) TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: result_rows
SELECT * FROM result ORDER BY initial_url, identifier, terminal, final_url

-- step: count_outcomes
SELECT outcome, count(*) FROM result WHERE terminal = 1 GROUP BY outcome

-- step: count_rules
SELECT COALESCE(match_rule, ''), count(*) FROM result WHERE terminal = 1 GROUP BY 1

-- step: count_hits
-- The full texts, and the seed rows that have one.
SELECT count(DISTINCT final_url), count(*) FILTER (WHERE terminal = 1) FROM result WHERE hit = 1

-- step: count_texts
-- Full texts of seeds, those of them that an earlier crawl had, and full texts of no seed.
SELECT
    count(*) FILTER (WHERE terminal > 0 AND hit = 1),
    count(*) FILTER (WHERE terminal > 0 AND hit = 1 AND final_was_dedupe = 1),
    count(*) FILTER (WHERE terminal IS NULL)
FROM result

-- step: count_values
-- The most frequent values of some columns, for the report.
SELECT name, value, number
FROM (
    (SELECT 'initial_domains' AS name, COALESCE(initial_domain, '') AS value, count(*) AS number FROM result WHERE terminal = 1
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
    UNION ALL
    (SELECT 'initial_domains_without_full_text', COALESCE(initial_domain, ''), count(*) FROM result WHERE terminal = 1 AND hit = 0
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
    UNION ALL
    (SELECT 'final_domains_of_full_texts', COALESCE(final_domain, ''), count(*) FROM result WHERE terminal > 0 AND hit = 1
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
    UNION ALL
    (SELECT 'status', COALESCE(final_status_code, ''), count(*) FROM result WHERE terminal = 1
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
    UNION ALL
    (SELECT 'media_types', COALESCE(final_mimetype, ''), count(*) FROM result WHERE terminal = 1
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
    UNION ALL
    (SELECT 'breadcrumbs_of_full_texts', breadcrumbs, count(*) FROM result WHERE terminal > 0 AND hit = 1
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
    UNION ALL
    (SELECT 'match_rules', COALESCE(match_rule, ''), count(*) FROM result WHERE terminal = 1
        GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT $most)
) AS one
ORDER BY name, number DESC, value

-- step: count_index_pages
-- Pages that only an index has, and that are no full texts.
SELECT count(*) FROM page WHERE source = 1 AND grade > 30

-- step: count_missing
-- Full texts whose way up ends at a page that no input has, and ways that go round.
SELECT
    count(*) FILTER (WHERE needed.via <> '' AND other.url IS NULL AND NOT ends_with(needed.hops, 'P')),
    count(*) FILTER (WHERE steps >= 60)
FROM top
JOIN needed ON needed.url = top.place
LEFT JOIN needed AS other ON other.url = needed.via

-- step: count_seed_forms
-- Seed rows whose address is not in Heritrix's form, and those that have none.
SELECT
    count(*) FILTER (WHERE heritrix <> '' AND heritrix <> url),
    count(*) FILTER (WHERE heritrix = '')
FROM seed_once

-- step: count_endless
SELECT count(*) FROM chain WHERE state = 'limit'

-- step: explain_outcome
SELECT rule, page, state, path FROM read_parquet($file) WHERE url = $url

-- step: explain_page
SELECT status, mime, age, source FROM read_parquet($file) WHERE url = $url

-- step: explain_ways
-- Shorter ways first, redirects first of equal ones.
SELECT parent, crumb FROM read_parquet($file) WHERE child = $child ORDER BY link DESC, parent, crumb
