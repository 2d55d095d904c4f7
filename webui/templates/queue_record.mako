<%inherit file="base.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="title()">${heading}</%def>
<%def name="head()">${queues.script()}</%def>
${queues.bar(queue)}
<div class="heading">
  <h1 dir="auto">${heading}</h1>
  <p class="count"><a href="${urls.record(identifier)}"><bdi class="id">${identifier}</bdi></a></p>
</div>
<p class="note">${_("This record cannot be edited in a form:")} ${reason}</p>
<p class="act"><a class="button filled" href="${queue.skip}" data-key="s">${_("Skip")}</a></p>
