import { type Certificate, selfSigned as signed } from '../../../app/server/certificate.ts';

//  Certificates for test servers: no program is run, and no key is in the tree.

type Wishes = {
  /** The addresses or names it is valid for; 127.0.0.1 by default. */
  names?: readonly string[];
  from?: Date;
  until?: Date;
};

const dayMs = 86_400_000;

/** A self-signed certificate. */
export function selfSigned(wishes: Wishes = {}): Certificate {
  const { names = ['127.0.0.1'], from = new Date(Date.now() - dayMs), until = new Date(Date.now() + dayMs) } = wishes;
  return signed({ names, from, until, title: `test ${names[0]}` });
}
