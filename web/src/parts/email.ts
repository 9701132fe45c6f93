/** What is wrong with an e-mail address, as a sentence: a slip of the finger, no more. */
export function emailProblem(email: string): string | undefined {
  if (email.trim() === '') return 'Enter an e-mail address.';
  if (!/^[^\s@]{1,64}@[^\s@]{1,255}$/.test(email.trim())) return 'This is not an e-mail address.';
  return undefined;
}
