// Charts of lines and bars. Pages that need more put a library for charts here.
import { Table } from './parts.jsx';

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 260, 56, 36, 14];
const COLORS = ['var(--main)', '#d1495b', '#6f9f3c', '#8f5db7'];

/** The next number above that has one digit. */
function roundedUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value || 1));
  return Math.ceil(value / unit) * unit;
}

export function Chart({ name, kind, x, y = [], rows }) {
  if (!['line', 'bar', 'scatter'].includes(kind)) return <Table name={name} rows={rows} />;
  const values = rows.flatMap((row) => y.map((member) => Number(row[member]) || 0));
  const [low, high] = [-roundedUp(-Math.min(0, ...values)), roundedUp(Math.max(0, ...values)) || 1];
  const band = (WIDTH - LEFT - 8) / rows.length;
  const across = (at) => LEFT + band * (at + 0.5);
  const up = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const named = [...rows.keys()].filter((at) => at % Math.ceil(rows.length / 4) === 0);
  const marks = [0, 0.5, 1].map((part) => low + part * (high - low));
  return (
    <section className="card">
      <h2>{name}</h2>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={name}>
        {marks.map((value) => (
          <g key={value}>
            <line x1={LEFT} x2={WIDTH} y1={up(value)} y2={up(value)} className="grid" />
            <text x={LEFT - 8} y={up(value) + 5} textAnchor="end">
              {Number(value.toPrecision(3))}
            </text>
          </g>
        ))}
        {named.map((at) => (
          <text key={at} x={across(at)} y={HEIGHT - 8} textAnchor="middle">
            {`${rows[at]?.[x] ?? ''}`}
          </text>
        ))}
        {y.map((member, series) => (
          <Series key={member} kind={kind} color={COLORS[series % COLORS.length]} points={rows.map((row, at) => [across(at), up(Number(row[member]) || 0)])} base={up(0)} band={(band * 0.8) / y.length} shift={band * (0.8 * (series / y.length) - 0.4)} />
        ))}
      </svg>
      {y.length > 1 && (
        <p className="legend">
          {y.map((member, series) => (
            <span key={member} style={{ color: COLORS[series % COLORS.length] }}>
              {member}
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

function Series({ kind, color, points, base, band, shift }) {
  if (kind === 'line') return <polyline points={points.join(' ')} fill="none" stroke={color} strokeWidth="2.5" />;
  return points.map(([left, top], at) =>
    kind === 'bar' ? (
      <rect key={at} x={left + shift} width={band} y={Math.min(top, base)} height={Math.abs(base - top)} fill={color} />
    ) : (
      <circle key={at} cx={left} cy={top} r="4" fill={color} />
    ),
  );
}
