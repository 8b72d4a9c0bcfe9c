import { createThinkingSplitter, type Part, type ThinkingMarkers } from '../../text/thinking.ts';

//  Thinking that a server leaves in the text of its answer, between tags.

const TAGS: ThinkingMarkers = { open: '<think>', close: '</think>' };

/** `recast`: what was told as the answer was the thinking (a template had opened it, so that only its end comes). */
export type Untagged = { recast: boolean; parts: Part[] };

export type Tags = {
  push(text: string): Untagged;
  flush(): Part[];
};

/** An answer that quotes the closing tag, later than any thinking is this long, keeps it. */
const LONGEST = 200_000;

export function createTags(): Tags {
  let splitter = createThinkingSplitter(TAGS, false);
  let opened = false;
  let answer = '';
  let settled = false;

  function separated(parts: Part[]): Part[] {
    opened ||= splitter.inThinking || parts.some(({ kind }) => kind === 'thinking');
    return parts;
  }

  return {
    push(text) {
      const parts = separated(splitter.push(text));
      if (opened || settled) return { recast: false, parts };
      answer += parts.map((part) => part.text).join('');
      const at = answer.indexOf(TAGS.close);
      if (answer.length > LONGEST || isFenced(answer)) settled = true;
      if (at < 0 || settled) return { recast: false, parts };
      opened = true;
      const rest = answer.slice(at);
      splitter = createThinkingSplitter(TAGS, true);
      const thinking = answer.slice(0, at).trimEnd();
      return { recast: true, parts: [{ kind: 'thinking', text: thinking }, ...splitter.push(rest)] };
    },
    flush: () => splitter.flush(),
  };
}

/** Code that shows the tag is an answer. */
const isFenced = (text: string): boolean => text.includes('`');
