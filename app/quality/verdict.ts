/** What a divergence in nats a token means to somebody who uses the model. The words are of texts in English that the models know
 *  well; 8 bits are near 0.001, 4 bits near 0.05, 2 bits above 1. */
export function wordOf(kld: number): string {
  if (!(kld >= 0)) return 'broken';
  if (kld < 0.01) return 'hardly different';
  if (kld < 0.05) return 'slightly different';
  if (kld < 0.2) return 'a little weaker';
  if (kld < 1) return 'clearly weaker';
  return 'much weaker';
}
