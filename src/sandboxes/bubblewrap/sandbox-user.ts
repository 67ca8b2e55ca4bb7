import { readFileSync, statSync } from 'node:fs'

/** Whom the programs of a sandbox run as. */
export interface SandboxUser {
  readonly uid: number
  readonly gid: number
  /** Its name, else its number. */
  readonly name: string
  /** Whether this process has to change to it. */
  readonly other: boolean
}

const nobody = 65_534

/**
 * The user for programs: this process's own, unless that is root. For root it is the one that was asked for (a name, or `uid:gid`), else
 * the owner of the project, else `nobody`; never root. A text is why there is none.
 */
export function findSandboxUser(project: string, asked: string | undefined): SandboxUser | string {
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  const wanted = asked === undefined ? undefined : findUser(asked)
  if (asked !== undefined && wanted === undefined)
    return `There is no user "${asked}" on this machine. Name one that is there, or give its numbers as "uid:gid".`
  if (wanted !== undefined && (wanted.uid === 0 || wanted.gid === 0))
    return `The user "${asked}" is root, as whom no command runs. Name another one.`
  if (uid !== 0) {
    if (wanted !== undefined && wanted.uid !== uid)
      return `Only root can run commands as "${asked}". Leave "user" out, or start Handrail as root.`
    return { uid, gid, name: nameOf(uid), other: false }
  }
  const found = wanted ?? ownerOf(project) ?? findUser('nobody') ?? { uid: nobody, gid: nobody }
  return { ...found, name: nameOf(found.uid), other: true }
}

interface Numbers {
  uid: number
  gid: number
}

/** The owner with their own group, never that of the folder, which may have rights elsewhere. */
function ownerOf(project: string): Numbers | undefined {
  const { uid } = statSync(project)
  if (uid === 0) return undefined
  const gid = readUsers().find((user) => user.uid === uid)?.gid
  return { uid, gid: gid === undefined || gid === 0 ? nobody : gid }
}

function findUser(asked: string): Numbers | undefined {
  const [, uid, gid] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(asked) ?? []
  const known = readUsers().find((user) => user.name === asked || String(user.uid) === uid)
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  return known && { uid: known.uid, gid: known.gid }
}

function nameOf(uid: number): string {
  return readUsers().find((user) => user.uid === uid)?.name ?? String(uid)
}

function readUsers(): (Numbers & { name: string })[] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    return name === undefined || uid === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}
