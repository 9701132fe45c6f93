/**
 * Puts text on the clipboard; false when the browser does not allow it. Works over plain HTTP too, where a service at home
 * often lives and browsers offer no `navigator.clipboard`.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.ariaHidden = 'true';
  field.style.position = 'fixed';
  field.style.opacity = '0';
  // Beside what has the focus: a dialog keeps the focus within itself.
  (focused?.parentElement ?? document.body).append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
