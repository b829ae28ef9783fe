"use strict";
(() => {
  const root = document.documentElement;

  // The theme: as the system has it, or as the reader last chose. A page without a
  // place to remember it forgets it.
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  const remember = {
    get() { try { return localStorage.getItem("introgen-theme"); } catch { return null; } },
    set(v) { try { localStorage.setItem("introgen-theme", v); } catch { /* it lasts as long as the page */ } },
  };
  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    button.dataset.is = theme;
    button.querySelector("span").textContent = theme;
  };
  const kept = remember.get();
  show(themes.includes(kept) ? kept : "system");
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(button.dataset.is) + 1) % themes.length];
    show(next);
    remember.set(next);
  });

  // Tooltips: what a mark has to say, under the pointer and at the keyboard's focus.
  const tip = document.getElementById("tip");
  const place = (x, y) => {
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - w - 4)) + "px";
    tip.style.top = (y + 16 + h > innerHeight ? Math.max(4, y - h - 8) : y + 16) + "px";
  };
  const tell = (mark, x, y) => {
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    place(x, y);
  };
  const hush = () => { tip.hidden = true; };
  const marked = (e) => e.target.closest && e.target.closest("[data-tip]");
  document.addEventListener("pointermove", (e) => {
    const mark = marked(e);
    if (mark) tell(mark, e.clientX, e.clientY);
    else hush();
  });
  document.addEventListener("pointerleave", hush);
  document.addEventListener("focusin", (e) => {
    const mark = marked(e);
    if (!mark) return hush();
    const box = mark.getBoundingClientRect();
    tell(mark, box.left + box.width / 2, box.bottom - 10);
  });
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") hush(); });
  document.addEventListener("scroll", hush, { passive: true, capture: true });

  // Where a script runs, the tooltip says what an SVG's own titles would say twice.
  const untitle = (within) => {
    for (const t of within.querySelectorAll("[data-tip] > title, svg > title")) {
      const of = t.parentNode;
      if (of.hasAttribute("role") && !of.hasAttribute("aria-label")) of.setAttribute("aria-label", t.textContent);
      of.removeAttribute("aria-labelledby");
      t.remove();
    }
  };
  untitle(document);

  // Raw samples lie in the page packed; a reader gets them unpacked.
  const unpack = async (link) => {
    const packed = Uint8Array.from(atob(link.href.slice(link.href.indexOf(",") + 1)), (c) => c.charCodeAt(0));
    const text = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Blob([await new Response(text).arrayBuffer()], { type: link.dataset.type });
  };
  document.addEventListener("click", async (e) => {
    const link = e.target.closest && e.target.closest("a[data-name]");
    if (!link || typeof DecompressionStream === "undefined") return; // the packed file is downloaded
    e.preventDefault();
    const file = document.createElement("a");
    file.href = URL.createObjectURL(await unpack(link));
    file.download = link.dataset.name;
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 60000);
  });

  // On paper nothing can be opened: what holds a table of some length stays closed.
  const longest = 60;
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")].filter((d) => d.querySelectorAll("tr").length <= longest);
    for (const d of opened) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of opened) d.open = false; });

  // The section that is read is marked among the links to all.
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const watch = () => {
    const seen = new IntersectionObserver((entries) => {
      for (const e of entries) {
        if (!e.isIntersecting) continue;
        for (const a of links.values()) a.removeAttribute("aria-current");
        const a = links.get(e.target.id);
        if (!a) continue;
        a.setAttribute("aria-current", "true");
        const nav = a.closest("nav"); // on a phone it shows a part of the links
        nav.scrollLeft = a.offsetLeft - nav.offsetLeft - nav.clientWidth / 2 + a.clientWidth / 2;
      }
    }, { rootMargin: "-10% 0px -80% 0px" });
    for (const s of document.querySelectorAll("section[id]")) seen.observe(s);
  };
  watch();

  // A page of a run that goes on is fetched again when there is a newer one, at most
  // once a second, and takes the place of this one; what was opened stays open.
  const live = document.body.dataset.live;
  if (!live) return;
  let wanted = false, busy = false, last = 0, over = false;
  const events = new EventSource(live);
  const name = (d) => [...document.querySelectorAll("details")].indexOf(d) + ":" + d.querySelector("summary").textContent.replace(/[0-9.,]+/g, "");
  const update = async () => {
    if (busy || !wanted) return;
    busy = true;
    wanted = false;
    try {
      const text = await (await fetch(location.href, { cache: "no-store" })).text();
      const next = new DOMParser().parseFromString(text, "text/html");
      const main = document.getElementById("main"), fresh = next.getElementById("main");
      if (fresh) {
        const open = new Set([...document.querySelectorAll("details[open]")].map(name));
        const focused = document.activeElement && document.activeElement.id;
        hush();
        main.replaceChildren(...fresh.childNodes);
        document.querySelector("nav").replaceChildren(...next.querySelector("nav").childNodes);
        document.title = next.title;
        for (const d of document.querySelectorAll("details")) d.open = open.has(name(d));
        untitle(main);
        if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
      }
    } catch { /* the next event tries again */ }
    last = Date.now();
    busy = false;
    if (wanted) setTimeout(update, 1000);
    else if (over) document.getElementById("live")?.remove();
  };
  const soon = () => {
    if (wanted) return;
    wanted = true;
    setTimeout(update, Math.max(0, last + 1000 - Date.now()));
  };
  events.addEventListener("message", soon);
  events.addEventListener("end", () => {
    over = true;
    events.close();
    soon();
  });
})();
