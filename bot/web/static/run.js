"use strict";
const log = document.getElementById("log");
const live = document.getElementById("live");
const source = new EventSource(`${log.dataset.events}?after=${log.dataset.after}`);
source.onopen = () => { live.textContent = "Live."; };
source.onerror = () => { live.textContent = "Connection lost; trying again."; };
source.addEventListener("end", () => { live.textContent = "The run has ended."; source.close(); });
source.addEventListener("record", (event) => {
  const record = JSON.parse(event.data);
  const row = log.tBodies[0].insertRow();
  const time = new Date(record.at).toISOString().slice(11, 19);
  for (const text of [record.position, time, record.type, record.text]) row.insertCell().textContent = text;
});
