import { createThinkingSplitter, type Part, type ThinkingMarkers } from '../../text/thinking.ts';

//  Extracts thinking that a server leaves in the text of its answer, between tags.

const TAGS: ThinkingMarkers = { open: '<think>', close: '</think>' };

/** `recast`: text passed on as the answer turned out to be thinking (the template had opened it, so only its end tag comes). */
export type Untagged = { recast: boolean; parts: Part[] };

export type Tags = {
  push(text: string): Untagged;
  flush(): Part[];
};

/** Thinking is never longer than this; a closing tag after it is part of the answer. */
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

/** A tag inside code belongs to the answer. */
const isFenced = (text: string): boolean => text.includes('`');
