/** For `onCloseAutoFocus`: a closing layer returns the focus a moment later, and only if nothing else has taken it: a key
 *  pressed meanwhile may have opened another layer or a field. */
export function restoreFocus(event: Event): void {
  const focused = document.activeElement;
  const inside = event.target instanceof Node && event.target.contains(focused);
  if (focused !== null && focused !== document.body && !inside) event.preventDefault();
}
