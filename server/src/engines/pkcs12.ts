import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const nodeForge: Engine = {
  id: 'node-forge',
  name: 'node-forge',
  license: 'BSD-3-Clause',
  version: () => packageVersion('node-forge'),
};

/** Somebody's key, with the certificate that says whose it is and those that vouch for it. */
export interface Identity {
  key: KeyObject;
  certificate: X509Certificate;
  /** The certificate of the key is not among them. */
  chain: X509Certificate[];
}

/**
 * Reads a PKCS #12 file (.p12, .pfx) with a key of the RSA or elliptic curve kind.
 *
 * @throws Failure `password_required`; `invalid_input` for what is no such file or has no key with a certificate.
 */
export async function readIdentity(
  data: Buffer,
  password: string | undefined,
  filename: string,
  now: Date,
): Promise<Identity> {
  const { keys, certificates } = await readBags(data, password, filename);
  const found = keys
    .map((key) => ({ key, certificate: certificates.find((certificate) => certificate.checkPrivateKey(key)) }))
    .find(({ certificate }) => certificate !== undefined);
  const refuse = (what: string) => new Failure('invalid_input', `${filename} ${what}`, { file: filename });
  if (found?.certificate === undefined) throw refuse('has no private key with its certificate.');
  const { key, certificate } = found;
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'ec') {
    throw refuse(`has a key of the kind ${key.asymmetricKeyType}; RSA and elliptic curves (ECDSA) can sign PDFs.`);
  }
  if (now < new Date(certificate.validFrom)) throw refuse(`is not valid before ${certificate.validFrom}.`);
  if (now > new Date(certificate.validTo)) throw refuse(`has a certificate that expired on ${certificate.validTo}.`);
  return { key, certificate, chain: certificates.filter((each) => each !== certificate) };
}

async function readBags(data: Buffer, password: string | undefined, filename: string) {
  const { default: forge } = await import('node-forge');
  try {
    const store = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(data.toString('binary')), false, password ?? '');
    const bags = store.safeContents.flatMap(({ safeBags }) => safeBags);
    const der = (value: import('node-forge').asn1.Asn1) => Buffer.from(forge.asn1.toDer(value).getBytes(), 'binary');
    const keys = bags.flatMap(({ key, asn1, type }) => {
      if (key) return [createPrivateKey(forge.pki.privateKeyToPem(key))];
      const isKey = type === forge.pki.oids['pkcs8ShroudedKeyBag'] || type === forge.pki.oids['keyBag'];
      // Keys on elliptic curves are left as they are.
      return isKey ? [createPrivateKey({ key: der(asn1), format: 'der', type: 'pkcs8' })] : [];
    });
    const certificates = bags.flatMap(({ cert, asn1, type }) => {
      if (cert) return [new X509Certificate(der(forge.pki.certificateToAsn1(cert)))];
      return type === forge.pki.oids['certBag'] ? [new X509Certificate(der(asn1))] : [];
    });
    return { keys, certificates };
  } catch (cause) {
    const log = String(cause);
    if (/MAC could not be verified|[Ii]nvalid password|wrong password/.test(log)) {
      const message =
        password === undefined ? `${filename} needs a password.` : `The password for ${filename} is wrong.`;
      throw new Failure('password_required', message, { file: filename, cause });
    }
    const message = `${filename} could not be read as a PKCS #12 certificate.`;
    throw new Failure('invalid_input', message, { file: filename, cause, log });
  }
}
