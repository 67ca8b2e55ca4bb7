/** Whether Windows would take the path for a device (`NUL.txt`), a stream (`a.txt:b`) or a device path (`\\?\`). */
export function isReservedOnWindows(path: string): boolean {
  if (/^[\\/]{2}/.test(path)) return true
  const names = path.replace(/^[A-Za-z]:(?=[\\/])/, '').split(/[\\/]/)
  return names.some(
    (name) =>
      name.includes(':') || /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i.test(name.trimEnd()),
  )
}
