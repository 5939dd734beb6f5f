// Which edits one undo reverts: letters are typed one by one, and words are undone.
//
// In Chromium, each letter is a step of its own as soon as the page draws something anew after it. The steps here are
// the browser's, in order. If the browser has other ones, as with input methods, it alone decides what a step is.
const ONE = { insertText: 1, deleteContentBackward: -1 };

const MOST = 500; // steps that are kept; of older ones, the browser alone decides

export class Steps {
  constructor() { this.clear(); }

  clear() {
    this.all = []; // each: by how many letters the field grew, where the cursor was then, and whether it continues a word
    this.count = 0; // how many of them are done
  }

  // An input: `grown` letters longer, with the cursor at `at`. The answer is what has to be undone or redone with it.
  note({ inputType, data }, grown, at, byHand) {
    if (inputType === "historyUndo") {
      this.count -= 1;
      return this.is(this.all[this.count], -grown) && this.all[this.count].joined && this.count > 0 ? "undo" : "";
    }
    if (inputType === "historyRedo") {
      this.count += 1;
      return this.is(this.all[this.count - 1], grown) && this.all[this.count]?.joined ? "redo" : "";
    }
    if (inputType === "insertCompositionText") this.clear();
    const kind = byHand && grown === ONE[inputType] ? inputType : "";
    const before = this.all[this.count - 1];
    const joined = kind !== "" && before?.kind === kind && before.at + grown === at && !(/^\s/.test(before.data) && /^\S/.test(data ?? ""));
    this.all.length = this.count;
    if (this.count === MOST) this.all.shift();
    this.all.push({ grown, at, kind, joined, data: data ?? "" });
    this.count = this.all.length;
    return "";
  }

  is(step, grown) {
    if (step?.grown === grown) return true;
    this.clear();
    return false;
  }
}
