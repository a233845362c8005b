// A modal dialog: the browser keeps the focus inside and gives it back.
import { html, useEffect, useId, useRef } from "../html.js";
import { Icon } from "./icons.js";

export function Dialog({ title, onClose, children, wide = false }) {
  const box = useRef(null);
  const id = useId();
  useEffect(() => {
    const dialog = box.current;
    dialog.showModal();
    return () => dialog.open && dialog.close();
  }, []);
  const outside = (event) => {
    if (event.target === box.current) onClose();
  };
  return html`<dialog ref=${box} class=${wide ? "wide" : ""} aria-labelledby=${id} onClose=${onClose} onMouseDown=${outside}>
    <div class="dialog">
      <div class="dialog-head"><h2 id=${id}>${title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${onClose}><${Icon} name="cancel" /></button></div>
      ${children}
    </div>
  </dialog>`;
}
