/** Codes of the sign-in library and of OpenID Connect that a person can do something about. */
const sentences: Record<string, (provider: string) => string> = {
  access_denied: (provider) => `Signing in with ${provider} was refused, or you turned back there.`,
  signup_disabled: () => 'Nobody here has this address yet. Ask the operator of this server for an invitation.',
  account_not_linked: (provider) =>
    `Somebody has this address here already and has not used ${provider} with it. Sign in with the password.`,
  email_not_found: (provider) => `No e-mail address came from ${provider}. It has to give one.`,
  state_mismatch: () => 'That took too long, or cookies are blocked. Try again.',
  rate_limited: () => 'Too many attempts. Wait a few minutes and try again.',
};

/** Why the way through the provider led back here, as a sentence. */
export function providerProblem(code: string, provider: string): string {
  const sentence = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  return sentence?.(provider) ?? `Signing in with ${provider} did not work. Try again, or use your password.`;
}
