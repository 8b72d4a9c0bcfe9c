/** The library's model of a vocabulary whose every way to read a text is weighed, as far as it is used here. */
export type UnigramModel = {
  readonly trie: { common_prefix_search(characters: readonly string[], start: number): Iterable<string> };
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  readonly scores: readonly number[];
  readonly unk_score: number;
};

/** The most likely way to read a text (Viterbi). The library keeps every way that it has weighed and compares each with each:
 *  this keeps the best to every place, so that a step costs as much as there are tokens that begin there. */
export function mostLikely(model: UnigramModel, text: string): string[] {
  const characters = Array.from(text);
  const scores = new Float64Array(characters.length + 1).fill(Number.NEGATIVE_INFINITY);
  /** Length of the last token on the best way to a place; 0 where there is none. */
  const lengths = new Int32Array(characters.length + 1);
  scores[0] = 0;
  for (let at = 0; at < characters.length; ++at) {
    const score = scores[at] ?? 0;
    const offer = (length: number, more: number) => {
      if (!(lengths[at + length] === 0 || score + more > (scores[at + length] ?? 0))) return;
      scores[at + length] = score + more;
      lengths[at + length] = length;
    };
    let single = false;
    for (const token of model.trie.common_prefix_search(characters, at)) {
      const length = codePointsOf(token);
      offer(length, model.scores[model.tokens_to_ids.get(token) ?? -1] ?? model.unk_score);
      single ||= length === 1;
    }
    if (!single) offer(1, model.unk_score);
  }
  const pieces: string[] = [];
  for (let end = characters.length; end > 0; ) {
    const length = lengths[end] || 1;
    pieces.push(characters.slice(end - length, end).join(''));
    end -= length;
  }
  return pieces.reverse();
}

function codePointsOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) ++count;
  return count;
}
