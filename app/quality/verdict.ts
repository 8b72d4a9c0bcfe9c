/** A divergence in nats per token in words. Calibrated on English text that the models know
 *  well; 8 bits are near 0.001, 4 bits near 0.05, 2 bits above 1. */
export function wordOf(kld: number): string {
  if (!(kld >= 0)) return 'broken';
  if (kld < 0.01) return 'hardly different';
  if (kld < 0.05) return 'slightly different';
  if (kld < 0.2) return 'a little weaker';
  if (kld < 1) return 'clearly weaker';
  return 'much weaker';
}
