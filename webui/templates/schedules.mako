<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Schedules")}</%def>
<div class="heading">
  <h1>${_("Schedules")}</h1>
  <p><a class="button filled" href="${urls.new_job()}">${_("New schedule")}</a></p>
</div>
${parts.done(done)}
% if problem:
<p class="note" role="status">${problem}</p>
% endif
% for fault in faults:
<p class="note fault" dir="auto">${fault}</p>
% endfor
% for line in lines:
<% one, url = line.schedule, urls.schedule(line.schedule.name) %>
<section class="card schedule" aria-labelledby="s-${one.name}">
  <h2 id="s-${one.name}" dir="auto">${one.title or one.name} · ${line.when}</h2>
  <p>\
% if one.timetable.is_paused:
<strong>${_("Paused.")}</strong>
% elif line.due_text:
${_("Next run:")} ${parts.date(line.due_text)}
% elif line.last and line.last.is_active:
${_("Running now.")}
% elif line.is_known:
${_("It has no further run.")}
% endif
</p>
${live.asked(line.asked)}
% if line.last:
  <p>${_("Last run:")} ${parts.date(line.last.job.made)} ${live.outcome(line.last.outcome)} <a href="${line.last.page}">${line.last.did or _("Show")}</a></p>
% endif
  <div class="actions">
% if not (line.last and line.last.is_active):
    <form action="${url}/run" method="post"><button class="quiet" type="submit">${_("Run now")}</button></form>
% endif
% if one.timetable.is_paused:
    <form action="${url}/resume" method="post"><button class="quiet" type="submit">${_("Resume")}</button></form>
% else:
    <form action="${url}/pause" method="post"><button class="quiet" type="submit">${_("Pause")}</button></form>
% endif
    <form action="${url}/remove" method="post"><button class="quiet" type="submit">${_("Remove")}</button></form>
  </div>
  <details>
    <summary>${_("Change")}</summary>
    <form class="short" action="${url}/change" method="post">
      <p><label for="when-${one.name}">${_("When")}</label>
      <select id="when-${one.name}" name="when">
% if line.choice == "same":
        <option value="same" selected>${line.when}</option>
% endif
% for name, label in choices:
        <option value="${name}"${" selected" if name == line.choice else ""}>${label}</option>
% endfor
      </select></p>
      <p><label for="at-${one.name}">${_("Time (UTC)")}</label>
      <input id="at-${one.name}" name="at" type="time" value="${line.at}" required></p>
      <p class="act"><button type="submit">${_("Save")}</button></p>
    </form>
  </details>
</section>
% endfor
% if not lines and not faults:
<section class="empty">
  <h2>${_("No schedules yet")}</h2>
  <p>${_("A schedule repeats a job, such as an update every night. To add one, start a new job and choose when it runs.")}</p>
</section>
% endif
