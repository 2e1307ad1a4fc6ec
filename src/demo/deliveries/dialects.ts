/**
 * Dialects: the layouts in which real providers export inventories, written by the generator. Columns, their order and the spelling of values are those
 * of the provider; what the market does not have is empty. They are independent of the presets that read them.
 */
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { listSeparator } from "../../ingest/feed/feed-schema.ts";

/** A column's value: the name of a field of the car or of its dealer, an expression over them, or nothing. */
type Column = string | Sql;

export interface FeedDialect {
  readonly file: string;
  /** Options of COPY. */
  readonly settings: Sql;
  /** Whether each dealer has a folder with one file, because no column names it. */
  readonly isPerDealer?: true;
  readonly columns: Readonly<Record<string, Column>>;
}

const isNew = sql`(kind = 'new')`;
const isCertified = sql`(kind = 'certified')`;
const either = (condition: Sql, yes: string, no: string): Sql => sql`if(${condition}, ${literal(yes)}, ${literal(no)})`;
const listed = (field: string, separator: string): Sql =>
  sql`replace(${ident(field)}, ${literal(listSeparator)}, ${literal(separator)})`;
const orZero = (field: string): Sql => sql`coalesce(${ident(field)}, '0')`;
const padded = (field: string): Sql =>
  sql`lpad(coalesce(nullif(regexp_replace(${ident(field)}, '[$,]|\\..*', '', 'g'), '') || '.00', '0.00'), 11, ' ')`;
const withUnit = (field: string, unit: string): Sql => sql`${ident(field)} || ${literal(` ${unit}`)}`;
const ended = (list: Sql, separator: string): Sql => sql`${list} || ${literal(separator)}`;
const firstPhoto = sql`split_part(photo_urls, '|', 1)`;
const otherPhotos = sql`array_to_string(string_split(photo_urls, '|')[2:], ', ')`;
const quoted = sql`FORMAT csv, HEADER true, FORCE_QUOTE *`;
const plain = sql`FORMAT csv, HEADER true`;
const condition = sql`CASE kind WHEN 'new' THEN 'NEW' WHEN 'used' THEN 'USED' ELSE 'CPO' END`;
const address = sql`'{addr1: ''' || replace(line1, '''', '') || ''', city: ''' || city || ''', region: ''' || dealer_state || ''', postal_code: ''' || postal_code || '''}'`;
const photo = (number: number): Sql =>
  sql`nullif(split_part(photo_urls, '|', ${literal(String(number + 1))}::INTEGER), '')`;
/** The 20 columns of images. */
const metaPhotos = Object.fromEntries(
  Array.from({ length: 20 }, (_, number) => [`image[${number}].url`, photo(number)]),
);
const onlyZips = sql`if(postal_code = '', '0', postal_code)`;

// biome-ignore format: a table is read by its columns
const car = { VIN: "vin", Year: "year", Make: "make", Model: "model" } as const;

// biome-ignore format: a table is read by its columns
export const dialects = {
  homenet: { file: "homenet.csv", settings: quoted, columns: {
    Type: either(isNew, "New", "Used"), Stock: "stock_number", ...car, Body: "body_type", Trim: "trim", ModelNumber: "model_code", Doors: "doors",
    ExteriorColor: "exterior_color", InteriorColor: "interior_color", EngineCylinders: "cylinders", EngineDisplacement: "", Transmission: "", Miles: "miles",
    SellingPrice: orZero("price"), MSRP: orZero("msrp"), BookValue: sql`'18498'`, Invoice: sql`'0'`, Certified: either(isCertified, "True", "False"),
    DateInStock: sql`'03/01/2026'`, Description: "", Options: "", "Categorized Options": sql`regexp_replace(${listed("features", "~")}, '(^|~)', '\\1Equipment@', 'g')`,
    "Dealer Name": "dealer_name", "Dealer Address": "line1", "Dealer City": "city", "Dealer State": "dealer_state", "Dealer Zip": "postal_code",
    "Dealer Phone": "phone", "Dealer Fax": "", "Dealer Email": "", "Comment 1": "", Style_Description: "version", Ext_Color_Generic: "base_exterior_color",
    Int_Color_Generic: "base_interior_color", Int_Upholstery: sql`'{feature'`, Engine_Description: "engine", Transmission_Description: "transmission",
    Drivetrain: "drivetrain", Fuel_Type: "fuel_type", CityMPG: sql`'0'`, Internet_Price: sql`'0'`, Factory_Codes: listed("options_packages", ","),
    PassengerCapacity: "seating_capacity", ImageList: listed("photo_urls", ",") } },
  vauto: { file: "vauto.csv", settings: quoted, columns: {
    DealerId: "dealer_id", "Stock #": "stock_number", VIN: "vin", "New/Used": either(isNew, "N", "U"), Year: "year", Make: "make", Model: "model",
    "Model Code": "model_code", Body: "body_type", Transmission: "transmission", Series: "trim", "Series Detail": "version", "Door Count": "doors", Odometer: "miles",
    "Engine Cylinder Ct": "cylinders", "Engine Displacement": "", "Drivetrain Desc": "drivetrain", Colour: "exterior_color", "Interior Color": "interior_color",
    Price: orZero("price"), MSRP: orZero("msrp"), "Inventory Date": sql`'04/26/2017'`, Certified: either(isCertified, "Yes", ""), Description: "",
    Features: "features", "City MPG": "", "Highway MPG": "", "Photo Count": sql`len(string_split(photo_urls, '|'))`, Photos: "photo_urls",
    "Photos Last Modified Date": sql`'4/27/2017 7:19:50 AM'`, "Dealer Name": "dealer_name", Engine: "engine", Fuel: "fuel_type", Age: sql`'12'`,
    "Option Codes": listed("options_packages", ","), Invoice: sql`'1'` } },
  "vauto-web": { file: "vauto-web.csv", settings: quoted, columns: {
    "Dealer ID": "dealer_id", "Dealer Name": "dealer_name", VIN: "vin", "Stock #": "stock_number", "New/Used": either(isNew, "N", "U"), Year: "year", Make: "make",
    Model: "model", "Model Number": "model_code", Body: "body_type", Transmission: "transmission", Series: "trim", "Body Door Ct": "doors", Odometer: "miles",
    "Engine Cylinder Ct": "cylinders", "Engine Displacement": "", "Drivetrain Desc": "drivetrain", Colour: "exterior_color", "Interior Color": "interior_color",
    MSRP: sql`coalesce(msrp, 'nan')`, Price: "price", "Inventory Date": "", Certified: either(isCertified, "Yes", ""), Description: "", Features: "features",
    "Photo Url List": listed("photo_urls", ","), "City MPG": "", "Highway MPG": "", "Photos Last Modified Date": "", "Series Detail": "version", Engine: "engine",
    Fuel: "fuel_type", Age: "", Disposition: "", Tags: "", "Vehicle Detail Link": "vdp_url" } },
  "frazer-dealercarsearch": { file: "DealerCarSearch-1.csv", settings: quoted, isPerDealer: true, columns: {
    "Vehicle Vin": "vin", "Vehicle Make": sql`upper(make)`, "Vehicle Model": sql`upper(model)`, "Vehicle Trim Level": "trim", "Vehicle Transmission Type": "transmission",
    "Vehicle Drive Type": "drivetrain", "Vehicle Type": "body_type", "Vehicle Year": "year", "Stock Number": "stock_number", "Interior Color": "interior_color",
    "Exterior Color": "exterior_color", Engine: "engine", Cylinders: "cylinders", Cost: sql`'    1500.00'`, Wholesale: sql`'       0.00'`, Retail: padded("price"),
    Mileage: "miles", "Purchase Date": sql`' 4/10/2024'`, Comments: sql`'Clean.<br />Runs'`, "Inventory Type": either(isNew, "New", "Used"),
    "Certified Pre Owned": either(isCertified, "Yes", "No"), "Image URL": ended(sql`photo_urls`, "|"), "Option List": ended(listed("features", "; "), ";"),
    "Total Cost": sql`'    1790.62'`, "Down Payment": sql`'       0.00'`, "YouTube URL": "", "Location Code": "", "Market Value": sql`'       0.00'`,
    Retail2: sql`'       0.00'`, "Other Price/Cost": "", "Weekly Payment": "", "Monthly Payment": "", "Payment Details": "", "Fuel Type": "fuel_type",
    "Interior Material": "", MSRP: padded("msrp") } },
  "frazer-dealerwebsites": { file: "DealerWebsites-1.csv", settings: quoted, isPerDealer: true, columns: {
    Stock: "stock_number", Year: "year", Make: sql`upper(make)`, Model: sql`upper(model)`, Style: "trim", Cylinder: "cylinders", Transmission: "transmission",
    Engine: "engine", "Drive Train": "drivetrain", "Fuel Type": "fuel_type", VIN: "vin", Mileage: "miles", Color: "exterior_color", "Color 2": "interior_color",
    Features: ended(listed("features", "; "), ";"), "Internet Price": sql`'       0.00'`, "Retail Price": padded("price"), "Sales Comments": "",
    "New/Used": sql`if(kind = 'new', 'New', 'Used')`, "Body Style": "body_type", Certified: either(isCertified, "Y", "N"), "MPG City": sql`'0'`, "MPG Hwy": sql`'0'`,
    "MPG Combined": sql`'0'`, Doors: "doors", PhotoURLs: ended(listed("photo_urls", ","), ",") } },
  cargurus: { file: "cargurus.csv", settings: quoted, columns: {
    "Dealer ID": "dealer_id", "Dealer Name": "dealer_name", "Dealer Street": "line1", "Dealer City": "city", "Dealer State": "dealer_state", "Dealer Zip": onlyZips,
    "Dealer Email": "", "Dealer Phone": "phone", "Stock#": "stock_number", Year: "year", Make: "make", Model: "model", Trim: "trim", VIN: "vin", Mileage: "miles",
    "Exterior Color": "exterior_color", "Interior Color": "interior_color", Price: "price", Transmission: "transmission", Engine: "engine", Drivetrain: "drivetrain",
    Certified: either(isCertified, "1", "0"), "Is New": either(isNew, "Y", "N"), Comments: "", Features: listed("features", "; "), "Photo URLs": listed("photo_urls", ",") } },
  "provider-pipe": { file: "provider.txt", settings: sql`FORMAT csv, HEADER true, DELIMITER '|', QUOTE '', ESCAPE ''`, columns: {
    "Provider ID": "dealer_id", VIN: "vin", "Stock Number": "stock_number", Year: "year", Make: "make", Model: "model", "Trim Level": "trim", Doors: "doors",
    "Body Style": "body_type", Transmission: "transmission", Mileage: "miles", "Exterior Color": "exterior_color", "Exterior Color Code": "",
    "Interior Color": "interior_color", "Interior Color Code": "", Engine: "engine", "Engine Size": "", "Model Code": "model_code",
    Certified: either(isCertified, "True", "False"), "Retail Value": sql`'99'`, "Invoice Price": sql`'98'`, "Asking Price": "price", "Wholesale Price": sql`'97'`,
    MSRP: "msrp", "Sale Price": sql`'0'`, Type: either(isNew, "New", "Used"), Options: listed("features", ","), "Options Codes": listed("options_packages", ","),
    Comments: "", "Photo Url List": listed("photo_urls", ","), "Package Code": "", Fuel: "fuel_type", Driveline: "drivetrain", "R/W": "", Status: "", Cost: sql`'96'` } },
  "google-listings": { file: "google-listings.csv", settings: plain, columns: {
    store_code: "dealer_id", id: "stock_number", VIN: "vin", year: "year", make: "make", model: "model", trim: "trim", exterior_color: "exterior_color",
    interior_color: "interior_color", mileage: withUnit("miles", "miles"), condition: either(isNew, "New", "Used"), price: withUnit("price", "USD"),
    vehicle_msrp: withUnit("msrp", "USD"), certified_pre_owned: either(isCertified, "yes", "no"), dealership_name: "dealer_name", dealership_address: "line1",
    link: "vdp_url", image_link: firstPhoto, additional_image_link: otherPhotos, vehicle_option: listed("features", ","), vehicle_fulfillment: sql`'IN_STORE'`,
    legal_disclaimer: sql`'Taxes, fees'` } },
  "google-ads": { file: "google-ads.tsv", settings: sql`FORMAT csv, HEADER true, DELIMITER '\t'`, columns: {
    id: "stock_number", vin: "vin", store_code: "dealer_id", brand: "make", model: "model", year: "year", condition: either(isNew, "New", "Used"),
    certified_pre_owned: either(isCertified, "yes", "no"), mileage: withUnit("miles", "miles"), color: "exterior_color", price: withUnit("price", "USD"),
    vehicle_msrp: withUnit("msrp", "USD"), image_link: firstPhoto, link: "vdp_url", link_template: "", google_product_category: sql`'916'`, trim: "trim",
    additional_image_link: otherPhotos, description: "" } },
  meta: { file: "meta.csv", settings: plain, columns: {
    vehicle_id: "vin", stock_number: "stock_number", title: "", description: "", url: "vdp_url", make: "make", model: "model", trim: "trim", year: "year",
    "mileage.value": "miles", "mileage.unit": sql`'MI'`, ...metaPhotos, transmission: "transmission", fuel_type: "fuel_type",
    body_style: sql`upper(body_type)`, drivetrain: sql`CASE drivetrain WHEN '4WD' THEN 'FOUR_WD' WHEN '2WD' THEN 'TWO_WD' ELSE drivetrain END`, vin: "vin",
    condition: sql`'EXCELLENT'`, price: withUnit("price", "USD"), address, exterior_color: "exterior_color", interior_color: "interior_color",
    sale_price: sql`'0 USD'`, availability: sql`'AVAILABLE'`, date_first_on_lot: sql`'2026-02-21'`, state_of_vehicle: condition, latitude: "latitude",
    longitude: "longitude", dealer_id: "dealer_id", dealer_name: "dealer_name", features: listed("features", ",") } },
} as const satisfies Readonly<Record<string, FeedDialect>>;

export type DialectName = keyof typeof dialects;

const isDialect = (name: string): name is DialectName => name in dialects;

export const dialectNames: readonly DialectName[] = Object.keys(dialects).filter(isDialect);

/** Returns the rows of a dialect: `cars` has the fields of inventory rows as texts, `kind`, and those of the dealers under other names where both have them. */
export function dialectRows({ columns }: FeedDialect, cars: Sql): Sql {
  const values = Object.entries(columns).map(([header, column]) => {
    const value = typeof column !== "string" ? column : column === "" ? sql`''` : ident(column);
    return sql`${value} AS ${ident(header)}`;
  });
  return sql`SELECT ${join(values)} FROM (${cars})`;
}
