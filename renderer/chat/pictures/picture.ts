import type { Attachment } from '../../../app/protocol/index.ts';

export type Picture = Attachment & { picture: NonNullable<Attachment['picture']> };

export const isPicture = (attachment: Attachment): attachment is Picture => attachment.picture !== null;
