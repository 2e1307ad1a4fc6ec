/**
 * Layouts that no preset has, in the words of their providers, with own values. A column is `header:kind of its values`, and if it has a field
 * `:field`, several with `+`, by the judgement of a reader.
 */

/** Values of each kind, which the rows have in turn; `#` is the number of the row. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  block: ["I4", "6 cylinders"],
  body: ["Sedan", "Pickup Truck", "SUV"],
  carfax: ["https://www.carfax.com/vhr/#"],
  "car code": ["V"],
  city: ["Austin"],
  code: ["A"],
  country: ["Canada", "Mexico"],
  color: ["WHITE", "Silver", "Blue"],
  cost: ["    7#00.00"],
  cylinders: ["4", "6"],
  date: [" 4/10/2024"],
  dealer: ["North Motors"],
  doors: ["4", "2"],
  drive: ["FWD", "4X4", "Front Wheel Drive"],
  empty: [""],
  engine: ["2.4L", "3.5L V6"],
  features: ["Air Conditioning; Power Windows; Cruise", "Sunroof; ABS"],
  flag: ["False", "True"],
  fuel: ["Gasoline", "Flex", "diesel"],
  grade: ["good", "excellent", "like new"],
  id: ["4711"],
  kind: ["Used", "New"],
  lat: ["30.26"],
  letter: ["U", "N"],
  literal: ["['Sunroof']"],
  lon: ["-97.74"],
  make: ["HONDA", "FORD", "TOYOTA"],
  miles: ["3#111"],
  model: ["ACCORD", "F-150", "CAMRY"],
  msrp: ["0", "41000"],
  number: ["1#"],
  phone: ["512-555-0100"],
  photo: ["https://x.example/#/1.jpg"],
  photos: ["https://x.example/#/1.jpg,https://x.example/#/2.jpg"],
  province: ["ON", "QC"],
  price: ["    9#00.00", "9#50"],
  seats: ["5", "6"],
  site: ["https://dealer.example"],
  state: ["TX"],
  stock: ["S#"],
  street: ["1 Main St"],
  text: ["Clean.<br />Runs well", "One owner"],
  transmission: ["Automatic", "6-Speed Automatic w/OD", "Manual"],
  trim: ["LX", "XLT", "SE"],
  url: ["https://dealer.example/cars/#"],
  video: ["https://youtu.be/#"],
  vin: ["1HGCM82633A0000#"],
  year: ["2019", "2021", "2017"],
  zero: ["       0.00"],
  zip: ["78701"],
};

interface LayoutColumn {
  readonly header: string;
  readonly kind: string;
  readonly fields: readonly string[];
}

export const layouts: Readonly<Record<string, string>> = {
  "a Canadian website": `
    VIN:vin:vin; Stock Number:stock:stock_number; Year:year:year; Make:make:make; Model:model:model; Kilometres:miles:miles; Passengers:seats:seating_capacity;
    our_price:price:price; total_price:price:price; detail_url:url:vdp_url; Carfax Report URL:carfax:vhr_url; dealer_url:site:dealer.website;
    Video:video; Main Image URL:photo; All Image URLs:photos:photo_urls; Country of Assembly:country:assembly_country; Number of Owners:cylinders;
    Exterior Colour:color:exterior_color; Dealership:dealer:dealer+dealer.name; Province:province:dealer.state+dealer; Grade:code; Class:code`,
  "an auction": `
    Id:number:stock_number; Yard number:id:dealer+dealer.name; Yard name:dealer:dealer.name; Lot number:stock:stock_number; Vehicle Type:car code; Year:year:year;
    Make:make:make; Model Group:model:model; Model Detail:trim:version; Color:color:exterior_color; Odometer Brand:code; Est. Retail Value:cost;
    Repair cost:cost; VIN:vin:vin; Odometer:miles:miles; Location city:city:dealer.city; Location state:state:dealer.state;
    Location ZIP:zip:dealer.postal_code; Buy-It-Now Price:price:price; High Bid:zero; Image URL:url:photo_urls; Trim:trim:trim`,
  AutoManager: `
    DealerID:id:dealer+dealer.name; Stock:stock:stock_number; Year:year:year; Make:make:make; Model:model:model; Style:trim:trim;
    Cylinder:cylinders:cylinders; Transmission:transmission:transmission; Engine:engine:engine; DriveTrain:drive:drivetrain;
    FuelType:fuel:fuel_type; VIN:vin:vin; Mileage:miles:miles; Color:color:exterior_color; Color2:color:interior_color;
    Features:features:features; InternetPrice:zero:price; RetailPrice:price:price; DownPayment:zero; PhotoURLs:photos:photo_urls;
    SalesComments:text; OriginalCost:cost; Certified:flag:inventory_type; VideoURL:empty; VehicleType:body:body_type`,
  GrooveCar: `
    Dealer ID:id:dealer+dealer.name; Dealer Name:dealer:dealer.name; Dealer Street:street:dealer.line1; Dealer City:city:dealer.city;
    Dealer State:state:dealer.state; Dealer Zip:zip:dealer.postal_code; Dealer Phone:phone:dealer.phone; Stock#:stock:stock_number;
    New/Used:kind:inventory_type; Year:year:year; Make:make:make; Model:model:model; Trim:trim:trim; Body Style:body:body_type; VIN:vin:vin;
    Mileage:miles:miles; Exterior Color:color:exterior_color; Interior Color:color:interior_color; Price:price:price;
    Transmission:transmission:transmission; Engine:engine:engine; Fuel:fuel:fuel_type; Cylinders:cylinders:cylinders;
    Drivetrain:drive:drivetrain; Certified:flag:inventory_type; MPG City:number; MPG Hwy:number; MPG Combined:number; Doors:doors:doors;
    Comments:text; Features:features:features; Video URL:empty; Photo URLs:photos:photo_urls; Leads Contact:text; Leads Email:text`,
  AutoList: `
    unique_id:number; vin:vin:vin; stock_num:stock:stock_number; seller_id:id:dealer+dealer.name; seller_name:dealer:dealer.name;
    seller_address:street:dealer.line1; seller_city:city:dealer.city; seller_state:state:dealer.state; seller_zip:zip:dealer.postal_code;
    seller_phone:phone:dealer.phone; seller_email:text; seller_lat:lat:dealer.latitude; seller_lon:lon:dealer.longitude;
    condition:kind:inventory_type; make:make:make; model:model:model; year:year:year; trim:trim:trim; body_type:body:body_type;
    price:price:price; mileage:miles:miles; exterior_color:color:exterior_color; interior_color:color:interior_color; fuel_type:fuel:fuel_type;
    engine_type:engine:engine; num_cylinders :cylinders:cylinders; transmission:transmission:transmission; num_doors:doors:doors;
    driveline:drive:drivetrain; description:text; features:features:features; image_urls:photos:photo_urls; listing_url:url:vdp_url`,
  Dealer24x7: `
    CustomerID:id:dealer+dealer.name; DealerName:dealer:dealer.name; Address:street:dealer.line1; City:city:dealer.city;
    State:state:dealer.state; Zip:zip:dealer.postal_code; LogoURL:site; Website:site:dealer.website; ContactName:text; ContactPhone:phone;
    ContactEmail:text; ContactADF:text; Condition:kind:inventory_type; VIN:vin:vin; Year:year:year; Make:make:make; Model:model:model;
    Trim:trim:trim; BodyType:body:body_type; Stock:stock:stock_number; ExteriorColor:color:exterior_color; InteriorColor:color:interior_color;
    RegularPrice:price:price; DiscountPrice:zero:price; Certified:flag:inventory_type; Transmission:transmission:transmission;
    Mileage:miles:miles; Comments:text; Features:features:features; Options:empty:features; Images:photos:photo_urls; ProviderID:number`,
  "names that begin with Vehicle": `
    Dealer Name:dealer:dealer+dealer.name; Dealer Phone:phone:dealer.phone; Dealer Email:text; Dealer Address:street:dealer.line1;
    Dealer City:city:dealer.city; Dealer State:state:dealer.state; Dealer Zip:zip:dealer+dealer.postal_code; Dealer Tagline:text;
    Vehicle Classification:text; Vehicle Certified Flag:flag:inventory_type; Vehicle Condition:kind:inventory_type; Vehicle Vin Number:vin:vin;
    Vehicle Stock Number:stock:stock_number; Vehicle Year:year:year; Vehicle Make:make:make; Vehicle Model:model:model; Vehicle Trim:trim:trim;
    Vehicle Mileage:miles:miles; Vehicle MSRP:msrp:msrp; Vehicle Retail/Wholesale Value:cost; Vehicle Invoice Amount:cost;
    Vehicle Pack Amount:cost; Vehicle Total Cost:cost; Vehicle Selling Price:price:price; Vehicle Engine Displacement (CI):number;
    Vehicle Engine #Cyl:cylinders:cylinders; Vehicle Engine HP:number; Vehicle Transmission Type:transmission:transmission;
    Vehicle Transmission #Gears:cylinders; Vehicle Transmission Name:transmission:transmission; Vehicle City MPG:number;
    Vehicle # of Doors:doors:doors; Vehicle Engine Displacement (L):engine:engine; Vehicle Hwy MPG:number; Vehicle Fuel Tank Capacity:number;
    Vehicle Exterior Color:color:exterior_color; Vehicle Interior Color:color:interior_color; Vehicle Optional Equipment:features:features;
    Vehicle Comments:text; Vehicle Ad Title:text; Vehicle Video URL:empty; Vehicle Image URLs:photos:photo_urls; Modified Date:date;
    Vehicle Detail Link:url:vdp_url`,
  AutoTrader: `
    DealerId:id:dealer+dealer.name; StockNumber:stock:stock_number; Year:year:year; Make:make:make; Model:model:model; Trim:trim:trim;
    VIN:vin:vin; Mileage:miles:miles; Price:price:price; ExteriorColor:color:exterior_color; InteriorColor:color:interior_color;
    Tranmission:transmission:transmission; PhysicalImages:empty; Descriptions:text; BodyType:body:body_type; EngineType:engine:engine;
    DriveType:drive:drivetrain; FuelType:fuel:fuel_type; Options:features:features; ImageURL:photos:photo_urls; VideoURL:empty;
    VideoSource:empty`,
  AutoXloo: `
    stock:stock:stock_number; title:text; vin:vin:vin; year:year:year; make:make:make; model:model:model; trim:trim:trim; free_text:text;
    type:kind:inventory_type; body:body:body_type; mileage:miles:miles; price_current:price:price; price_wholesale:cost; price_cost:cost;
    InternetPrice:price:price; MSRP:msrp:msrp; BookValue:cost; exterior:color:exterior_color; interior:color:interior_color; doors:doors:doors;
    engine:engine:engine; transmission:transmission:transmission; drive_type:drive:drivetrain; fuel_type:fuel:fuel_type; warranty:flag;
    warranty_description:text; description:text`,
  "listings collected from a website": `
    vin:vin:vin; body_type:body:body_type; city:city:dealer.city; city_fuel_economy:number; daysonmarket:number;
    dealer_zip:zip:dealer.postal_code; description:text; engine_cylinders:block:cylinders; engine_displacement:number;
    engine_type:block:engine; exterior_color:color:exterior_color; franchise_dealer:flag; franchise_make:make; fuel_type:fuel:fuel_type;
    has_accidents:flag; highway_fuel_economy:number; horsepower:number; interior_color:color:interior_color; is_new:flag:inventory_type;
    latitude:lat:dealer.latitude; length:number; listed_date:date; listing_color:color:base_exterior_color; listing_id:number;
    longitude:lon:dealer.longitude; main_picture_url:url:photo_urls; major_options:literal:features; make_name:make:make;
    maximum_seating:seats:seating_capacity; mileage:miles:miles; model_name:model:model; owner_count:cylinders; power:number;
    price:price:price; savings_amount:number; seller_rating:number; sp_id:id:dealer+dealer.name; sp_name:dealer:dealer.name; torque:number;
    transmission:transmission:transmission; transmission_display:transmission:transmission; trimId:number; trim_name:trim:trim;
    wheel_system:drive:drivetrain; wheel_system_display:drive:drivetrain; wheelbase:number; year:year:year`,
  "classified ads": `
    id:number:stock_number; url:url:vdp_url; region:text; region_url:site; price:price:price; year:year:year; manufacturer:make:make;
    model:model:model; condition:grade; cylinders:block:cylinders; fuel:fuel:fuel_type; odometer:miles:miles; title_status:text;
    transmission:transmission:transmission; VIN:vin:vin; drive:drive:drivetrain; size:text; type:body:body_type;
    paint_color:color:exterior_color; image_url:photos:photo_urls; description:text; county:empty; state:state:dealer.state+dealer;
    lat:lat:dealer.latitude; long:lon:dealer.longitude; posting_date:date`,
  "an aggregator": `
    id:number:stock_number; vin:vin:vin; heading:text; price:price:price; miles:miles:miles; msrp:msrp:msrp; data_source:text;
    vdp_url:url:vdp_url; exterior_color:color:exterior_color; interior_color:color:interior_color; dom:number; seller_type:text;
    inventory_type:kind:inventory_type; stock_no:stock:stock_number; scraped_at:date; year:year:year; make:make:make; model:model:model;
    trim:trim:trim; body_type:body:body_type; transmission:transmission:transmission; drivetrain:drive:drivetrain; fuel_type:fuel:fuel_type;
    engine:engine:engine; doors:doors:doors; cylinders:cylinders:cylinders`,
  "names that no table has": `
    Serial:vin:vin; A:year:year; B:make:make; C:body:body_type; D:letter:inventory_type; E:photos:photo_urls; F:drive:drivetrain;
    Yr Built:number; Sell $:price:price; Clr:color:base_exterior_color; Odo:miles:miles`,
};

/** Returns the columns of a layout. */
export const columnsOfLayout = (layout: string): readonly LayoutColumn[] =>
  layout.split(";").map((text) => {
    const [header = "", kind = "", fields = ""] = text.replace(/^\s+/, "").split(":");
    return { header, kind, fields: fields.trim() === "" ? [] : fields.trim().split("+") };
  });

/** Returns a file of twelve rows, all values quoted. */
export function csvOfLayout(columns: readonly LayoutColumn[]): string {
  const rows = Array.from({ length: 12 }, (_, row) =>
    columns.map(({ kind }) => {
      const values = kinds[kind.trim()] ?? [];
      return values[row % values.length]?.replaceAll("#", String(row + 10)) ?? `no values of ${kind}`;
    }),
  );
  const lines = [columns.map(({ header }) => header), ...rows];
  return lines.map((cells) => `${cells.map((cell) => `"${cell}"`).join(",")}\n`).join("");
}
