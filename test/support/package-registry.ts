import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { atEnd } from './at-end.ts'
import { makeTar } from './tar.ts'

/** A package as its author publishes it. */
export interface Published {
  readonly name: string
  readonly version: string
  /** By path. `package.json` gets name and version. */
  readonly files: Readonly<Record<string, string>>
  readonly manifest?: object
}

/** A registry of npm on loopback: what is published, and each package by its metadata and its tarball. */
export async function startRegistry() {
  const packages = new Map<string, Map<string, { manifest: object; tarball: Buffer; integrity: string }>>()
  const asked: { path: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    asked.push({ path, authorization: request.headers.authorization })
    const [name = '', file] = path.split('/-/')
    const versions = packages.get(name)
    if (versions === undefined) return void response.writeHead(404).end('{}')
    if (file !== undefined) return void response.end(versions.get(file)?.tarball)
    const latest = [...versions.keys()].at(-1)
    const toVersion = ([version, { manifest, integrity }]: [
      string,
      { manifest: object; integrity: string },
    ]) => [version, { ...manifest, dist: { tarball: `${url}${name}/-/${version}`, integrity } }]
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        name,
        'dist-tags': { latest },
        versions: Object.fromEntries([...versions].map(toVersion)) as object,
      }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  return {
    url,
    port,
    asked,
    publish({ name, version, files, manifest = {} }: Published) {
      const whole = { name, version, ...manifest }
      const entries = { ...files, 'package.json': JSON.stringify(whole) }
      const tarball = gzipSync(
        makeTar(Object.entries(entries).map(([path, content]) => ({ name: `package/${path}`, content }))),
      )
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
      packages.set(
        name,
        (packages.get(name) ?? new Map()).set(version, { manifest: whole, tarball, integrity }),
      )
    },
    /** From now on the tarball holds something else than its integrity says. */
    tamper(name: string, version: string) {
      const found = packages.get(name)?.get(version)
      if (found !== undefined)
        found.tarball = gzipSync(makeTar([{ name: 'package/package.json', content: '{}' }]))
    },
  }
}
