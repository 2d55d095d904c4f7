-- The steps from events to counts. They run in DuckDB (silosteps/engine.py); the order is in
-- counting/counting.py. An event is a use of a record; the same event may be there twice.
--
-- Columns of an event: day (days since 1970, local), moment (seconds since 1970, UTC), hour (local),
-- item, kind (0 view, 1 download, 2 other), path (64 bits of a digest), client and visitor (tokens
-- under the key of the day), neighbour (the visitor under the key of the day before, in the first
-- 30 seconds of a day; otherwise 0), machine, country.

-- step: named_events
-- The events of some days in a block of lines, with the texts of their numbers.
CREATE OR REPLACE TEMP TABLE named AS
SELECT given.day, moment, hour, name AS item, kind, path, client, visitor, neighbour, machine,
    code AS country
FROM given
JOIN item_name ON item_name.number = given.item
JOIN country_code ON country_code.number = given.country

-- step: write_events
-- Those of a day.
COPY (SELECT * FROM named WHERE day = $day)
TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: merge_events
-- The events of several files of a day in one.
COPY (SELECT DISTINCT * FROM read_parquet($files))
TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: number_of_events
SELECT count(*) FROM read_parquet($files)

-- step: read_events
-- Every value of a file, to see whether it can be read.
SELECT bit_xor(hash(day, moment, hour, item, kind, path, client, visitor, neighbour, machine,
    country))
FROM read_parquet($files)

-- step: items
SELECT DISTINCT item FROM read_parquet($files) ORDER BY item

-- step: events
-- The events of the days to be counted, and what the days after them say about double clicks. An
-- event that is there twice needs no step of its own: it is a double click, and one client.
CREATE OR REPLACE TEMP TABLE event AS
SELECT day, moment, hour, id AS item, kind, path, client, visitor, neighbour, machine, country
FROM read_parquet($files)
JOIN item_id USING (item)
WHERE neighbour <> 0 OR day IN (SELECT unnest($days))

-- step: clicks
-- Without double clicks (COUNTER R5.1, section 7.2): of requests by one visitor for one address,
-- each within 30 seconds of the one before, only the last counts. It may be on the next day.
CREATE OR REPLACE TEMP TABLE click AS
WITH seen AS (
    SELECT day, moment, hour, item, kind, path, client, visitor, machine, country, FALSE AS later
    FROM event
    WHERE day IN (SELECT unnest($days))
    UNION ALL
    SELECT day - 1, moment, hour, item, kind, path, client, neighbour, machine, country, TRUE
    FROM event
    WHERE neighbour <> 0 AND day - 1 IN (SELECT unnest($days))
),
followed AS (
    SELECT *, lead(moment) OVER (
        PARTITION BY day, visitor, path, machine ORDER BY moment, later, client
    ) AS next
    FROM seen
)
SELECT day, hour, item, kind, visitor, machine, country
FROM followed
WHERE NOT later AND (next IS NULL OR next - moment > 30)

-- step: sessions
-- What visitors did with a record on a day: a session is a visitor and an hour (COUNTER R5.1,
-- section 7.3).
CREATE OR REPLACE TEMP TABLE by_session AS
WITH session AS (
    SELECT day, item, machine,
        count(*) FILTER (WHERE kind < 2) AS investigations,
        count(*) FILTER (WHERE kind = 1) AS requests,
        count(*) FILTER (WHERE kind = 2) AS others
    FROM click
    GROUP BY day, item, machine, visitor, hour
)
SELECT day, item, machine, sum(investigations)::BIGINT AS investigations,
    sum(requests)::BIGINT AS requests, sum(others)::BIGINT AS others,
    count(*) FILTER (WHERE investigations > 0) AS unique_investigations,
    count(*) FILTER (WHERE requests > 0) AS unique_requests
FROM session
GROUP BY day, item, machine

-- step: clients
-- What clients did with a record on a day, each whatever how often (the rule of 2010).
CREATE OR REPLACE TEMP TABLE by_client AS
WITH client AS (
    SELECT day, item, machine, bool_or(kind = 0) AS viewed, bool_or(kind = 1) AS downloaded,
        bool_or(kind = 2) AS other, min(moment) AS first, max(moment) AS last
    FROM event
    WHERE day IN (SELECT unnest($days))
    GROUP BY day, item, machine, client
)
SELECT day, item, machine, count(*) FILTER (WHERE viewed) AS views,
    count(*) FILTER (WHERE downloaded) AS downloads, count(*) FILTER (WHERE other) AS others,
    count(*) AS visitors, min(first) AS first, max(last) AS last
FROM client
GROUP BY day, item, machine

-- step: figures
-- In the order of values.Figures. A record whose clicks all belong to the next day has clients.
SELECT c.day, c.machine::INTEGER AS machine, c.item,
    coalesce(s.investigations, 0) AS total_investigations,
    coalesce(s.requests, 0) AS total_requests,
    coalesce(s.unique_investigations, 0) AS unique_investigations,
    coalesce(s.unique_requests, 0) AS unique_requests,
    coalesce(s.others, 0) AS others, c.views, c.downloads, c.others AS others_2010, c.visitors,
    c.first, c.last
FROM by_client AS c
LEFT JOIN by_session AS s USING (day, item, machine)
ORDER BY c.day, c.machine, c.item

-- step: countries
-- Investigations and requests by people, after double clicks.
SELECT day, item, country, count(*), count(*) FILTER (WHERE kind = 1)
FROM click
WHERE kind < 2 AND NOT machine AND country <> ''
GROUP BY day, item, country
ORDER BY day, item, country

-- step: without_client
-- The events of a day without those of a client.
COPY (SELECT * FROM read_parquet($files) WHERE client <> $client)
TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: without_items
-- The events of a day without those of some records.
COPY (SELECT * FROM read_parquet($files) WHERE NOT list_contains($items, item))
TO $file (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)

-- step: clients_of_day
-- Who used a record how on a day, for the keys of 2010 in Redis; and the last moment.
SELECT item, kind, client, max(moment) FROM read_parquet($files)
WHERE NOT machine GROUP BY item, kind, client
