## Small pieces of the pages of our own crawls.
<%namespace name="lists" file="lists.mako"/>
<%namespace name="parts" file="parts.mako"/>

<%def name="badge(word, said)">\
<span class="badge ${'ok' if word == 'good' else 'deleted' if word == 'alert' else 'warn'}">${said}</span>\
</%def>

<%def name="next_launch(line)">\
% if line.target.when.is_paused:
${_("paused")}\
% elif line.is_due:
${_("due now")}\
% elif line.due:
${parts.moment(line.due)}\
% else:
${_("none")}\
% endif
</%def>

<%def name="fields(values, frequencies, scopes, limits)">
    <p class="wide"><label for="title">${_("Title")} <span class="optional">${_("(optional)")}</span></label>
    <input id="title" name="title" value="${values["title"]}" autocomplete="off" dir="auto"></p>
    <div class="pair">
    <p><label for="frequency">${_("How often")}</label>
    <select id="frequency" name="frequency">
% for name, label in frequencies:
      <option value="${name}"${lists.selected(name == values["frequency"])}>${label}</option>
% endfor
    </select></p>
    <p><label for="scope">${_("What belongs to it")}</label>
    <select id="scope" name="scope">
% for name, label in scopes:
      <option value="${name}"${lists.selected(name == values["scope"])}>${label}</option>
% endfor
    </select></p>
    </div>
    <p class="tick"><input id="plus_one" name="plus_one" type="checkbox" value="yes"${" checked" if values["plus_one"] else ""}> <label for="plus_one">${_("And what these pages link to, anywhere")}</label></p>
    <p class="tick"><input id="render" name="render" type="checkbox" value="yes"${" checked" if values["render"] else ""}> <label for="render">${_("Show the seeds in a browser, for pages that are empty without their scripts")}</label></p>
    <div class="pair">
    <p><label for="start">${_("First launch (UTC)")} <span class="optional">${_("(optional)")}</span></label>
    <input id="start" name="start" type="datetime-local" value="${values["start"]}" aria-describedby="start-hint">
    <small id="start-hint">${_("Later ones are at the same time of day, on the same day of the week or month. Leave empty for now.")}</small></p>
    <p><label for="end">${_("No launch from (UTC)")} <span class="optional">${_("(optional)")}</span></label>
    <input id="end" name="end" type="datetime-local" value="${values["end"]}"></p>
    </div>
    <details>
      <summary>${_("Limits and more")}</summary>
      <div class="pair">
% for name, label in limits:
      <p><label for="${name}">${label}</label>
      <input id="${name}" name="${name}" value="${values[name]}" required pattern="[0-9]{1,15}[kMGT]?" autocomplete="off" spellcheck="false" aria-describedby="limits-hint"></p>
% endfor
      </div>
      <p><small id="limits-hint">${_("Of each seed, in each launch; with k, M or G for thousands, as in 20k or 2G.")}</small></p>
      <p class="wide"><label for="ignore">${_("Never fetch")} <span class="optional">${_("(optional)")}</span></label>
      <textarea id="ignore" name="ignore" rows="3" spellcheck="false" dir="ltr" aria-describedby="ignore-hint">${values["ignore"]}</textarea>
      <small id="ignore-hint">${_("A pattern of addresses on each line, such as */calendar/*")}</small></p>
      <p><label for="zone">${_("Time zone")}</label>
      <input id="zone" name="zone" value="${values["zone"]}" required autocomplete="off" spellcheck="false" aria-describedby="zone-hint">
      <small id="zone-hint">${_("In which days and times stay the same when the clocks change, such as Europe/London.")}</small></p>
    </details>
</%def>

<%def name="longest(heading, of, rows)">
<section>
<h2>${heading}</h2>
% if rows:
<%parts:table label="${heading}" heads="${(of, _('Addresses'))}" numbers="${(1,)}">
% for name, number in rows:
    <tr><th scope="row" dir="ltr">${name}</th><td class="number" data-label="${_('Addresses')}">${numeral(number)}</td></tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("None.")}</p>
% endif
</section>
</%def>

<%def name="log(heading, lines)">
<section>
<h2>${heading}</h2>
% if lines:
<pre tabindex="0" dir="ltr" aria-label="${heading}"><code>${"\n".join(lines)}</code></pre>
% else:
<p class="empty-line">${_("None.")}</p>
% endif
</section>
</%def>

<%def name="package_state(one, said)">\
% if one.error:
${badge("alert", _("failed"))} ${said}\
% elif one.state in ("verified", "merged"):
${badge("good", said)}\
% else:
${badge("warning", said)}\
% endif
</%def>
