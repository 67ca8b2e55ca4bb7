/**
 * A message that names what lies in the project by its path there, and the project as such. Only the path itself and those below it: a
 * neighbour such as `/srv/app-old`, an address and a pattern stay.
 */
export function withoutProject(message: string, project: string): string {
  if (project.length < 2 || !message.includes(project)) return message
  const literal = project.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  const whole = String.raw`(?<![\p{L}\p{N}/:._-])${literal}`
  return message
    .replaceAll(new RegExp(whole + below, 'gu'), '')
    .replaceAll(new RegExp(whole + itself, 'gu'), 'the project')
}

const below = String.raw`/+(?=[^\s"'\x60)\]},;])`
const itself = String.raw`/?(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])`
