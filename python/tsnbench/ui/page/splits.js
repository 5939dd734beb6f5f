// Separators between the parts of the page: dragged, or moved by arrows; their places are remembered.
import { recall, remember } from "./remember.js";

const STEP = 2; // percent of the window for an arrow

// A place in percent of the room between two edges, as a property of the page's style.
class Split {
  constructor(host) {
    this.host = host;
    this.name = host.dataset.split;
    this.upright = host.getAttribute("aria-orientation") === "vertical";
    this.limits = [Number(host.getAttribute("aria-valuemin")), Number(host.getAttribute("aria-valuemax"))];
    this.room = host.dataset.room ? document.querySelector(host.dataset.room) : document.documentElement;
    this.first = host.previousElementSibling;
    this.held = false;
    host.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      host.focus();
      this.held = true;
      host.setPointerCapture(event.pointerId);
    });
    host.addEventListener("pointermove", (event) => this.held && this.set(this.share(this.upright ? event.clientX : event.clientY)));
    host.addEventListener("pointerup", () => { this.held = false; this.keep(); });
    host.addEventListener("pointercancel", () => { this.held = false; });
    host.addEventListener("dblclick", () => this.reset());
    host.addEventListener("keydown", (event) => this.key(event));
    const known = Number(recall(this.name));
    if (known) this.set(known);
    host.setAttribute("aria-valuenow", String(known || Math.round(this.now())));
  }

  span() {
    const box = this.room.getBoundingClientRect();
    return this.upright ? box.width : box.height;
  }

  // The share of the room from the begin of the first part to a place.
  share(place) {
    const box = this.first.getBoundingClientRect();
    return (100 * (place - (this.upright ? box.left : box.top))) / this.span();
  }

  now() {
    const box = this.first.getBoundingClientRect();
    return (100 * (this.upright ? box.width : box.height)) / (this.span() || 1);
  }

  set(share) {
    const value = Math.round(Math.min(this.limits[1], Math.max(this.limits[0], share)));
    document.documentElement.style.setProperty(`--split-${this.name}`, String(value));
    this.host.setAttribute("aria-valuenow", String(value));
    document.body.classList.add(`split-${this.name}`);
    this.value = value;
  }

  keep() {
    if (this.value) remember(this.name, this.value);
  }

  reset() {
    this.value = 0;
    document.body.classList.remove(`split-${this.name}`);
    remember(this.name, "");
    this.host.setAttribute("aria-valuenow", String(Math.round(this.now())));
  }

  key(event) {
    const back = this.upright ? "ArrowLeft" : "ArrowUp";
    const on = this.upright ? "ArrowRight" : "ArrowDown";
    const places = { [back]: this.now() - STEP, [on]: this.now() + STEP, Home: this.limits[0], End: this.limits[1] };
    if (event.key === "Enter") this.reset();
    else if (!(event.key in places)) return;
    else {
      this.set(places[event.key]);
      this.keep();
    }
    event.preventDefault();
  }
}

export const start = () => { for (const host of document.querySelectorAll("[data-split]")) new Split(host); };
