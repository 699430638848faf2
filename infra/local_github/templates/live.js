// Reloads the page when something changed, unless a person is writing.
const mine = document.currentScript.dataset.version;
setInterval(async () => {
  const writing = [...document.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => field.value);
  if (writing || document.hidden || document.activeElement.tagName === "SELECT") return;
  const reply = await fetch("/local/version").catch(() => null);
  if (reply && reply.ok && (await reply.text()) !== mine) location.reload();
}, 2000);
