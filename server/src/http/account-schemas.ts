import { Type, type Static } from 'typebox';

/** Bodies of the account page's own routes. What they answer is typed in `web/src/wire.ts`. */

const email = Type.String({ maxLength: 300 });
const password = Type.String({ maxLength: 1000 });
const secret = Type.String({ maxLength: 200 });
const name = Type.String({ minLength: 1, maxLength: 100, pattern: String.raw`\S` });
const role = Type.Union([Type.Literal('owner'), Type.Literal('member')]);
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const exactly = <T extends Type.TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false });

export const credentials = exactly({ email, password });
export const linkSecret = exactly({ secret });
export const linkAnswer = exactly({ secret, email, password });
export const accountChoice = exactly({ account_id: Type.String({ maxLength: 64 }) });
export const passwordChange = exactly({ current_password: password, new_password: password });
export const accountChange = exactly({ name });
export const newToken = exactly({ name, expires_at: orNull(Type.String({ maxLength: 40 })) });

/** A year is more than anybody needs to change a token over. */
const longestOverlapSeconds = 365 * 86_400;
export const rotation = exactly({ overlap_s: Type.Integer({ minimum: 0, maximum: longestOverlapSeconds }) });
export const invitation = exactly({ email: orNull(email), role });
export const roleChange = exactly({ role });
export const planChange = exactly({ plan: Type.String({ maxLength: 40 }) });
export const adminInvitation = exactly({ email: orNull(email), plan: Type.String({ maxLength: 40 }) });
export const adminChange = exactly({ admin: Type.Boolean() });

export const pageOf = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ maxLength: 64 })),
});
export const accountsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ maxLength: 64 })),
  q: Type.Optional(Type.String({ maxLength: 100 })),
});

export type Body<T extends Type.TSchema> = { Body: Static<T> };
