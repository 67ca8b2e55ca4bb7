import { codeTools, createRuntime, type Policy } from 'handrail'

/** A program of somebody's own that makes one call: its project, its store, its policy, the tool and the input. */
const [project = '', store = '', policy = '{}', tool = '', input = '{}'] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  tools: [codeTools()],
  // Written by the test.
  policy: JSON.parse(policy) as Policy,
  store: { path: store },
})
await runtime.session().call(tool, input)
await runtime.close()
