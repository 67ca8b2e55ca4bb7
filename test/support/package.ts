import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { packageRoot } from './command-line.ts'

/** Runs a program to its end; the environment is this one's without what npm set for its own scripts. */
export function runProgram(command: string, argv: readonly string[], cwd: string) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_ENV|VITEST|HANDRAIL_)/.test(name)),
  )
  const { status, stdout, stderr, error } = spawnSync(command, argv, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error !== undefined) throw error
  return { code: status, stdout, stderr }
}

/** An installed package in a folder that had nothing in it. Removed by `remove`. */
export interface Installed {
  folder: string
  /** Paths in the tarball. */
  files: string[]
  remove(): void
}

/** Packs this package, which was built before, and installs the tarball as a user would. */
export function installPackage(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-install-'))
  const pack = runProgram(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
    packageRoot,
  )
  expect(pack, pack.stderr).toMatchObject({ code: 0 })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}\n')
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${tarball}`]
  const npm = runProgram('npm', install, folder)
  expect(npm, npm.stderr).toMatchObject({ code: 0 })
  const listed = runProgram('tar', ['-tzf', tarball], folder)
  return {
    folder,
    files: listed.stdout.split('\n').filter((path) => path !== ''),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Writes a file below a folder. */
export function writeBelow(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/**
 * Compiles a user's files with the strictest settings that users have, against the types in the package, and gives what the compiler
 * says. Node's own types are the only ones that the user brings.
 */
export function compile(folder: string, files: readonly string[]): string {
  const options = {
    compilerOptions: {
      target: 'ES2024',
      module: 'NodeNext',
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
      verbatimModuleSyntax: true,
      types: ['node'],
      typeRoots: [join(packageRoot, 'node_modules', '@types')],
      rootDir: '.',
      outDir: 'out',
    },
    files,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  const compiler = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc')
  // It ends before its garbage is worth collecting.
  const argv = ['GOGC=off', process.execPath, compiler, '-p', 'tsconfig.json']
  return runProgram('env', argv, folder).stdout
}
