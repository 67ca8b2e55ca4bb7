import type { OutputFollower } from '../../contract/tool/tool.ts'
import { createRedactingStream } from '../../kit/secrets/redact-stream.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'

/** Letters beyond this are not shown: the result has the output. */
const maxLetters = 65_536

/** Shows what a program prints line by line, each without secrets: in two pieces a secret would be found in neither. */
export function followOutput(redactor: Redactor, show: (text: string) => void): OutputFollower {
  const streams = { stdout: createRedactingStream(redactor), stderr: createRedactingStream(redactor) }
  let left = maxLetters
  const tell = (bytes: Uint8Array): void => {
    const text = Buffer.from(bytes).toString()
    if (text === '' || left <= 0) return
    show(text.slice(0, left).toWellFormed())
    left -= text.length
    if (left <= 0) show('\n… more output follows; the result has it …\n')
  }
  return {
    add({ stream, text }) {
      if (left > 0) tell(streams[stream].push(Buffer.from(text)))
    },
    end() {
      for (const stream of Object.values(streams)) tell(stream.end())
    },
  }
}
