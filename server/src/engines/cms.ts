import { createHash, sign } from 'node:crypto';
import type { Identity } from './pkcs12.ts';

const oids = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  sha256: '2.16.840.1.101.3.4.2.1',
  rsa: '1.2.840.113549.1.1.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
};

const tags = { integer: 0x02, octets: 0x04, nothing: 0x05, oid: 0x06, sequence: 0x30, set: 0x31, context0: 0xa0 };

/**
 * A detached CMS signature as PAdES wants it (ETSI EN 319 142-1, level B-B): SHA-256, the certificates, and in what is
 * signed the hash of the signer's own, so that it cannot be exchanged. DER.
 */
export function signDetached(parts: readonly Uint8Array[], { key, certificate, chain }: Identity): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const attributes = [
    attribute(oids.contentType, oid(oids.data)),
    attribute(oids.messageDigest, der(tags.octets, hash.digest())),
    attribute(oids.signingCertificateV2, sequence(sequence(sequence(der(tags.octets, sha256(certificate.raw)))))),
  ].toSorted((a, b) => Buffer.compare(a, b));
  const isRsa = key.asymmetricKeyType === 'rsa';
  const digest = sequence(oid(oids.sha256), der(tags.nothing));
  const signer = sequence(
    integer(1),
    issuerAndSerial(certificate.raw),
    digest,
    der(tags.context0, ...attributes),
    isRsa ? sequence(oid(oids.rsa), der(tags.nothing)) : sequence(oid(oids.ecdsaWithSha256)),
    der(tags.octets, sign('sha256', der(tags.set, ...attributes), key)),
  );
  const certificates = [certificate, ...chain].map(({ raw }) => raw).toSorted((a, b) => Buffer.compare(a, b));
  const signed = sequence(
    integer(1),
    der(tags.set, digest),
    sequence(oid(oids.data)),
    der(tags.context0, ...certificates),
    der(tags.set, signer),
  );
  return sequence(oid(oids.signedData), der(tags.context0, signed));
}

/** The most bytes that {@link signDetached} returns. */
export function signatureSize({ certificate, chain }: Identity): number {
  return [certificate, ...chain].reduce((sum, { raw }) => sum + raw.length, 0) + 4096;
}

function sha256(data: Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff_ff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(tags.sequence, ...parts);
}

function integer(value: number): Buffer {
  return der(tags.integer, Buffer.from([value]));
}

function attribute(type: string, value: Buffer): Buffer {
  return sequence(oid(type), der(tags.set, value));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(tags.oid, Buffer.from(bytes));
}

/** The two by which a certificate is named, as they stand in it. */
function issuerAndSerial(certificate: Buffer): Buffer {
  const [whole] = elements(certificate);
  const [body] = elements(contentOf(whole ?? certificate));
  const fields = elements(contentOf(body ?? certificate));
  // The version comes first, but version 1 is not said.
  const [serial, , issuer] = fields[0]?.[0] === tags.context0 ? fields.slice(1) : fields;
  if (serial === undefined || issuer === undefined) throw new TypeError('not a certificate');
  return sequence(issuer, serial);
}

function headerOf(data: Buffer): { header: number; length: number } {
  const short = data[1] ?? 0;
  if (short < 0x80) return { header: 2, length: short };
  return { header: 2 + (short & 0x7f), length: data.readUIntBE(2, short & 0x7f) };
}

function contentOf(element: Buffer): Buffer {
  const { header, length } = headerOf(element);
  return element.subarray(header, header + length);
}

function elements(data: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let rest = data; rest.length > 1;) {
    const { header, length } = headerOf(rest);
    found.push(rest.subarray(0, header + length));
    rest = rest.subarray(header + length);
  }
  return found;
}
