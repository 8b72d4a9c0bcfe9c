/** The quantisation in the name of a GGUF file, or else the file name. */
export function labelOf(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1).replace(/(-\d{5}-of-\d{5})?\.gguf$/i, '');
  return /(?:^|[-_.])((?:I?Q\d(?:_[A-Z0-9]+)*|MXFP4(?:_\w+)?|BF16|F16|F32))$/i.exec(name)?.[1]?.toUpperCase() ?? name;
}
