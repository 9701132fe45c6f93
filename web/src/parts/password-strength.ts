/** The service's rule for passwords, in characters. */
export const shortestPassword = 10;
const longestPassword = 128;
const fewestDifferent = 4;

export interface Strength {
  /** 0: below the rule; 1 weak, 2 fair, 3 strong. */
  level: 0 | 1 | 2 | 3;
  hint: string;
}

/** Beginnings of what everybody tries first. */
const common = /passw[o0]rd|qwert|asdf|letmein|welcome|millrun|12345|54321|abc123|iloveyou|admin/i;

/** Why the service would refuse a password, as a sentence; undefined when it would not. */
export function passwordProblem(password: string, email: string): string | undefined {
  if (password === '') return 'Enter a password.';
  const { length } = password;
  if (length < shortestPassword) return `Use at least ${shortestPassword} characters.`;
  if (length > longestPassword) return `Use at most ${longestPassword} characters.`;
  if (password.toLowerCase() === email.trim().toLowerCase()) return 'Use something else than the e-mail address.';
  if (new Set(password).size < fewestDifferent) return `Use at least ${fewestDifferent} different characters.`;
  return undefined;
}

/** A rough judgement while somebody types: long and varied is good, well-known and repeated is not. */
export function judgePassword(password: string, email: string): Strength {
  const { length } = password;
  if (length < shortestPassword) {
    const missing = shortestPassword - length;
    return { level: 0, hint: `${missing} more ${missing === 1 ? 'character' : 'characters'} needed.` };
  }
  const problem = passwordProblem(password, email);
  if (problem !== undefined) return { level: 0, hint: problem };
  if (common.test(password)) return { level: 1, hint: 'Weak: it holds something everybody tries.' };
  const name = email.split('@')[0] ?? '';
  if (name.length >= 3 && password.toLowerCase().includes(name.toLowerCase()))
    return { level: 1, hint: 'Weak: it holds your e-mail address.' };
  const different = new Set(password).size;
  if (different < 6) return { level: 1, hint: 'Weak: the same characters repeat.' };
  if (length >= 16 || (length >= 13 && different >= 9)) return { level: 3, hint: 'Strong.' };
  return { level: 2, hint: 'Fair. A longer one is stronger, such as four words.' };
}
