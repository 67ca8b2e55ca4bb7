/** What comes next: at once if there is nothing to wait for, else when the promise is fulfilled. */
export function andThen<Value, Next>(
  value: Value | Promise<Value>,
  goOn: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}
