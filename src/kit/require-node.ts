const needed = 24

if (Number(process.versions.node.split('.')[0]) < needed) {
  const error = new Error(
    `Handrail needs Node ${needed} or later; this is ${process.version}. Install one from https://nodejs.org, or run: npm install node@${needed}`,
  )
  // The line says it all.
  error.stack = error.message
  throw error
}
