import type { Attachment, AttachmentId } from '../../../app/protocol/index.ts';

//  Attachments of the fake core: a file that is named like a picture is one.

const PICTURE = /\.(?:png|jpe?g|webp|gif|tiff?|avif)$/i;

export const fakeAttachments = (nextId: () => AttachmentId) => ({
  'attachments.move': () => undefined,
  'attachments.add': ({ name }: { name: string }): Attachment => ({
    id: nextId(),
    name,
    bytes: 48_200,
    tokens: PICTURE.test(name) ? 352 : 6318,
    picture: PICTURE.test(name) ? { width: 1024, height: 768 } : null,
  }),
  'attachments.preview': () => ({ webp: LANDSCAPE }),
  'attachments.text': () => ({ name: 'notes.txt', text: 'text' }),
  'attachments.remove': () => undefined,
});

/** 320 × 240 pixels. */
const LANDSCAPE =
  'UklGRhQFAABXRUJQVlA4IAgFAAAQNgCdASpAAfAAPrVaqE6nJSQiJHGZAOAWiWdu4Wwnqvgdn06bZluD7tgp2mjA/x/Sc8dmuL/gH/T76ij/Zre2lCaqkFJ8g9PdnOTW5bMleMsXnPpv2X+Y6kfjfsv1V2e7Ocmty2ZK4DUItm2aFXikcSlgZO6C8rxTXU5ya3LZkrxlXUVG0C0ANSqpxtMz5bC4aX2oPQkfwlMIUmbWtTHxGk4vmEOXhgx7Sk+ZPazLQKegxJfur5LnFdRgBY6/x0TwSD8qFOoxv22bJvm+K0MxMsEnQjdkoBx3G9XLk7wSU/CWT2b95z0zl/wkbuYVjPmj3pZz/ELOav2LdYVJoLyHflZyLsnGxH0p/XxaN5nNsUSOzXlcafAsew/8njiydFyMVWsW4cDeaC/PvutjRIoAacoDuNsXmsicSiZwqC+rwc//9rdXgUWwvL1nDPpXnCoM5bznmhKS6RKPGwvix+P9cvumzUvcMvTb9vqYs+pzVqpnwqT/acrPx7lC1GL+H7qQTuk6NC6+0IbDKsmrF5ukSYUIGpPfloUfGOcomcKgz4eiwroQKS6xWEEwDzC8idjxE7HiJ4pp8AAA/vikg/i7sRxjH/160tzb27FBQFdCI5ev76oK6ERy9f39GP+D7gkF+9pJBfvaSQX73cNhDzOMzCYTY8opuydlM1csB1uua2wrzDBHyiUaYhTdnm7XAcjP/qXQBJJqFfQ6+UIqMnrI7bpj6mJ+MZmtrST5RsR9nNYsDmlxAGC17Cetk7zxYooOcFZ35l1cq3hwgsWoBcIEv4wXSY70Khxs/uexekfHluYsL6W/DcwB5qkgbp8JARJShVub3818Grstd9K07lr1ekuR+7ccFDBXZLvT/1mEhzAIqF1HEi8MZJX0PlwatKaCMhrYcLGXZzapiGQwiSJHAIj0qKcgtTYAi9FnuGDcjWBUWaN0b/x2NFeDN1uhPRcE9WkUy5C3/8TJn/DgB/LFUjv5X+7OESyJTJt7wmi17+MI0yVHVxKIFLM8lJtpS9+yr8yq3xO3/U46nCvGU6dAPy3qCZcfm4mkdKFdzvtMc5RFBEf2ytxQZ8usL0l54AkpB6OtEa5khH/dFvxe2YKp6nBWJVpYBtq4BnpKZmK5GboTljWjoHvqFVp004B6SbasCz3Sy0ldQ02U40h6vQgbVOoihaWtjygTNM7X5/ae1yBb9/Ih/nsD//mu9+z6GUw9myWyP07qpTProKV0WhrMvzkl70olWfaS/YhOmYH8ClP9KNtPeygRdjTckgk0Lehwa8yqpsJ6O8i41I1YqueMMzTITHCi/AGUStjhm69JGtMIylM+t0eFnfVvavIWNNWW/72GiDrgP7wNjyqaue3AE2oKJ/AHoaADqeamEg+PuKjqe5AJiFGdhpuNvoMgXhJJ4rdmVYLf2eR5YMdnElaNAUQ0r/YAAAADFfePYuSSN/cgtHq9ZE4cvMT5gMBlwIGdHVUfyGWJiWIQtFoQehetCh2AqOTHoTpqneVFXwIwqgkcd0HkC3dQCR+4mUxnGKOX9b/yOo1efYBy+QACDd8F7qnMJUTBU5IwICBgJ+971ztRBU7DsiCIcTN2lqRWURJRhpJ7ZYADjebTrl4T3ZkVNCLkK90a1z7J96JGFpbjxLSeawdRFKKyrR9+n+JNfjJKK/HhBVXGpivw0EGOJESgAAE0s6SOUzpCDoxv3JC2CcIAAAAAAAAA';
