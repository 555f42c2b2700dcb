// The initial widgets of the dashboard. The numbers are made up.

const SYMBOL = { name: "symbol", type: "ticker", description: "Ticker symbol", default_value: "AAPL", current_value: "AAPL", multi_select: false, options: [] };

const SAMPLE_WIDGETS = [
  {
    tier: "primary",
    widget: {
      uuid: "91ae1153-7b4d-451c-adc5-49856e90a0e6",
      origin: "Playground",
      widget_id: "stock_price",
      name: "AAPL prices",
      description: "Daily prices and volume of a stock",
      params: [SYMBOL, { name: "interval", type: "text", description: "Interval", default_value: "1d", current_value: "1d", options: ["1d", "1w"] }],
      metadata: { source: "Sample data" },
      source: "Sample data",
      category: "Equity",
      sub_category: "Price",
      columns: ["date", "symbol", "open", "high", "low", "close", "volume"],
    },
    data: [
      ["2026-11-05", 266.7, 269.4, 265.9, 268.9, 48210300],
      ["2026-11-06", 268.6, 272.3, 267.8, 271.5, 52114800],
      ["2026-11-09", 272.1, 274.8, 270.2, 270.6, 45988100],
      ["2026-11-10", 270.9, 273.0, 268.4, 272.2, 43107600],
      ["2026-11-11", 272.4, 277.9, 272.0, 276.8, 61440900],
      ["2026-11-12", 277.2, 279.5, 275.1, 275.4, 50322700],
      ["2026-11-13", 274.8, 276.2, 271.7, 272.9, 47850200],
      ["2026-11-16", 273.3, 275.9, 272.5, 275.1, 39774500],
      ["2026-11-17", 275.6, 281.2, 275.2, 280.4, 66901300],
      ["2026-11-18", 280.8, 283.6, 279.3, 282.7, 58233400],
      ["2026-11-19", 282.1, 283.0, 277.4, 278.6, 54610800],
      ["2026-11-20", 279.0, 284.9, 278.8, 284.2, 63375600],
    ].map(([date, open, high, low, close, volume]) => ({ date, symbol: "AAPL", open, high, low, close, volume })),
  },
  {
    tier: "secondary",
    widget: {
      uuid: "7bccd626-33db-4a2a-7bcc-d62633db4a2a",
      origin: "Playground",
      widget_id: "company_news",
      name: "Company news",
      description: "The latest news about a company",
      params: [SYMBOL],
      metadata: { source: "Sample data" },
      source: "Sample data",
      category: "News",
      sub_category: "Company",
    },
    data: "20 November 2026. Apple closed at a record after analysts raised their estimates for the holiday quarter.\n\n17 November 2026. The company said that its services revenue grew by 14 % in the year, and that it will open a second research site in Munich.\n\n11 November 2026. Two suppliers reported higher orders for the spring.",
  },
  {
    tier: "secondary",
    widget: {
      uuid: "c0342601-8c97-4211-8034-26018c979211",
      origin: "Playground",
      widget_id: "financial_ratios",
      name: "Financial ratios",
      description: "Key ratios of a company by fiscal year",
      params: [SYMBOL],
      metadata: { source: "Sample data" },
      source: "Sample data",
      category: "Equity",
      sub_category: "Fundamentals",
      columns: ["year", "symbol", "price_earnings", "gross_margin", "return_on_equity", "debt_to_equity"],
    },
    data: [
      { year: 2023, symbol: "AAPL", price_earnings: 29.8, gross_margin: 0.441, return_on_equity: 1.56, debt_to_equity: 1.79 },
      { year: 2024, symbol: "AAPL", price_earnings: 34.1, gross_margin: 0.462, return_on_equity: 1.65, debt_to_equity: 1.87 },
      { year: 2025, symbol: "AAPL", price_earnings: 33.4, gross_margin: 0.469, return_on_equity: 1.52, debt_to_equity: 1.54 },
      { year: 2026, symbol: "AAPL", price_earnings: 35.2, gross_margin: 0.472, return_on_equity: 1.49, debt_to_equity: 1.38 },
    ],
  },
];

const SAMPLE_TOOLS = [
  {
    server_id: "1",
    name: "sample_lookup",
    url: "http://localhost:8787/mcp",
    description: "Looks a company up",
    input_schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  },
];
