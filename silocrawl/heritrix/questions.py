"""Questions to a built job, as scripts that Heritrix runs: scope, frontier, history, threads.

Arguments are passed as hexadecimal digits, so that no text can end its literal. Answers are lines
of JSON in ASCII, because not every text can be written into the XML around them.
"""

import json
from typing import Any

from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.errors import ActionRefused, AnswerInvalid

MOST_SEARCHED = 100_000
"""Addresses of a queue among which one is looked for."""
_TELL = r"""
import com.sleepycat.je.*
void tell(Map found) {
  def line = new StringBuilder()
  for (char c : new org.json.JSONObject(found).toString().toCharArray()) {
    if (c >= 32 && c < 127) line.append(c)
    else line.append('\\').append(String.format('u%04x', (int) c))
  }
  rawOut.println line
}
def addressed(String url) {
  def found = new org.archive.modules.CrawlURI(org.archive.net.UURIFactory.getInstance(url))
  job.crawlController.frontier.frontierPreparer.prepare(found)
  return found
}
// Calls for each address of the frontier, from a queue on, until that returns false.
void walk(String queue, Closure call) {
  def waiting = job.crawlController.frontier.pendingUris
  def key = new DatabaseEntry(), value = new DatabaseEntry()
  def cursor = waiting.pendingUrisDB.openCursor(null, CursorConfig.READ_UNCOMMITTED)
  try {
    def status = OperationStatus.SUCCESS
    if (queue == null) status = cursor.getFirst(key, value, null)
    else {
      key.setData(org.archive.crawler.frontier.BdbMultipleWorkQueues.calculateOriginKey(queue))
      status = cursor.getSearchKeyRange(key, value, null)
    }
    while (status == OperationStatus.SUCCESS) {
      if (value.size > 0) {
        def found = waiting.crawlUriBinding.entryToObject(value)
        if ((queue != null && found.classKey != queue) || !call(found)) break
      }
      status = cursor.getNext(key, value, null)
    }
  } finally { cursor.close() }
}
void waits(found) {
  tell([url: found.toString(), hops: found.pathFromSeed, queue: found.classKey,
        via: found.via?.toString(), precedence: found.precedence])
}
"""
SURT_SCOPE = """
appCtx.getBean('scope').rules.findAll { it.hasProperty('surtPrefixes') }.each { rule ->
  rule.surtPrefixes.each { tell([decision: rule.decision.toString(), surt: it.toString()]) }
}"""
DECIDE_RULES = """
appCtx.getBean('scope').rules.each { rule ->
  def told = rule.keyedProperties.collectEntries { [it.key, String.valueOf(it.value)] }
  tell([rule: rule.class.simpleName, settings: told])
}"""
METADATA = """
def plain = appCtx.getBean('metadata').properties.findAll {
  it.value instanceof CharSequence || it.value instanceof Number || it.value instanceof Boolean
}
tell(plain.findAll { it.key != 'serialVersionUID' })"""
PENDING = """
int left = most
walk(null) { if (left > 0) waits(it); --left > 0 }"""
PENDING_FROM = """
int left = most
urls.collect { addressed(it).classKey }.unique().each { queue ->
  if (left > 0) walk(queue) { waits(it); --left > 0 }
}"""
URL_STATUS = """
def asked = addressed(url), frontier = job.crawlController.frontier, filter = frontier.uriUniqFilter
def told = [url: asked.toString(), queue: asked.classKey,
            queued: frontier.allQueues.get(asked.classKey)?.count ?: 0,
            scope: appCtx.getBean('scope').decisionFor(asked).toString(), waits: false]
if (filter.hasProperty('alreadySeen') || filter.metaClass.hasProperty(filter, 'alreadySeen')) {
  def key = new DatabaseEntry()
  def number = filter.createKey(asked.canonicalString)
  com.sleepycat.bind.tuple.LongBinding.longToEntry(number, key)
  def found = filter.alreadySeen.get(null, key, new DatabaseEntry(), null)
  told.known = found == OperationStatus.SUCCESS
}
int left = most
walk(asked.classKey) {
  told.waits = it.toString() == asked.toString()
  !told.waits && --left > 0
}
told.searched = told.waits || left > 0
def persist = org.archive.modules.recrawl.PersistProcessor
def kept = appCtx.getBeansOfType(persist).values().find { it.store != null }
told.history = (kept?.store?.get(persist.persistKeyFor(asked))?.get('fetch-history') ?: [])
  .findAll { it != null }
  .collect { one -> one.collectEntries { [it.key, String.valueOf(it.value)] } }
tell(told)"""
KILL_THREADS = """
def pool = job.crawlController.toePool, now = System.currentTimeMillis()
pool.toes.findAll { it?.currentCuri != null && now - it.lastStartTime >= seconds * 1000L }.each {
  tell([thread: it.serialNumber, url: it.currentCuri.toString(),
        seconds: (now - it.lastStartTime).intdiv(1000)])
  pool.killThread(it.serialNumber, true)
}"""


_OF_THE_FRONTIER = frozenset({PENDING, PENDING_FROM, URL_STATUS, KILL_THREADS})


def literal(value: object) -> str:
    """Write a text, a number or a list of them in Groovy."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, int):
        return str(int(value))
    return f"new String('{str(value).encode(errors='replace').hex()}'.decodeHex(), 'UTF-8')"


def ask(client: Heritrix, job: str, question: str, **arguments: object) -> list[dict[str, Any]]:
    """Ask a question of this module.

    Args:
        job: A built job; for its frontier and threads, one at work.
        question: One of the texts of this module.
        arguments: What it names.

    Returns:
        An object for each line of the answer.

    Raises:
        ActionRefused, ScriptFailed, AnswerInvalid: See `Heritrix.script`.
    """
    if question in _OF_THE_FRONTIER and not client.job(job).is_active:
        raise ActionRefused(f"the job {job} is not at work: it has no frontier")
    given = "".join(f"\ndef {name} = {literal(value)}" for name, value in arguments.items())
    lines = client.script(job, _TELL + given + question).splitlines()
    try:
        found = [json.loads(line) for line in lines if line.strip()]
    except ValueError:
        raise AnswerInvalid(f"Heritrix does not answer a question about {job} in JSON") from None
    if not all(isinstance(one, dict) for one in found):
        raise AnswerInvalid(f"Heritrix does not answer a question about {job} in JSON objects")
    return found


def addresses_of(host: str) -> list[str]:
    """The addresses whose queues are those of a host, with or without port, or of an address."""
    return [host] if "://" in host else [f"http://{host}/", f"https://{host}/"]
