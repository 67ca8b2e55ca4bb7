/** Whether a number is a whole multiple of another, by their decimal digits: 0.3 is a multiple of 0.1. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const left = toDecimal(value)
  const right = toDecimal(divisor)
  const exponent = Math.min(left.exponent, right.exponent)
  return scale(left, exponent) % scale(right, exponent) === 0n
}

interface Decimal {
  digits: bigint
  exponent: number
}

function toDecimal(value: number): Decimal {
  const [mantissa = '0', power = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

function scale(number: Decimal, exponent: number): bigint {
  return number.digits * 10n ** BigInt(number.exponent - exponent)
}
