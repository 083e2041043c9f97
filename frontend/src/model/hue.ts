const hues = ["harbour", "violet", "ochre", "jade", "rose", "coral", "moss", "slate"] as const;

/** The tick of a project: a second cue beside its name, the same at each start. */
export function hue(id: string): (typeof hues)[number] {
  let sum = 0;
  for (const c of id) sum = (sum * 31 + c.codePointAt(0)!) >>> 0;
  return hues[sum % hues.length]!;
}
