/** Whether a pattern means something else without its flags, which JSON Schema cannot say. */
export function changesMeaning({ flags }: RegExp): boolean {
  return /[imsv]/.test(flags)
}
