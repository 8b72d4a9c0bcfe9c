export function writeSynthetic(name: string, fileType: string, path: string, options?: { merged?: boolean }): number;
